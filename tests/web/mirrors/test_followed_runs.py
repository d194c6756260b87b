"""Which runs a mirror follows, and what happens when it cannot be written to."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from catalog.mirror_services import change_mirror
from catalog.models import Mirror, MirrorKind
from mirrors import sessions
from mirrors.following import follow_runs
from mirrors.mirror_retries import RETRY_AFTER_SECONDS
from mirrors.mirror_rounds import mirror_due
from mirrors.models import MirroredRun, MirroringState
from runs.models import Run
from runs.spec_check import check_spec
from runs.transitions import move
from tests.web.conftest import MakeProject, MakeRun, small_spec
from tests.web.mirrors.conftest import Driver, MakeMirror, round_now
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db


def followed(mirror: Mirror) -> set[Run]:
    follow_runs()
    return {row.run for row in MirroredRun.objects.filter(mirror=mirror)}


def test_a_mirror_follows_its_projects_runs_that_work_while_it_is_there(
    make_mirror: MakeMirror, make_run: MakeRun, make_project: MakeProject, project: Project
) -> None:
    make_run(project, state="completed")
    working = make_run(project, state="running")
    make_run(make_project(), state="running")
    mirror = make_mirror()
    assert followed(mirror) == {working}
    later = make_run(project, state="queued")
    brief = make_run(project, state="failed", ended_at=timezone.now())
    assert followed(mirror) == {working, later, brief}


def test_a_run_that_ended_while_no_round_worked_is_followed_all_the_same(
    make_mirror: MakeMirror, make_run: MakeRun, project: Project
) -> None:
    mirror = make_mirror()
    Mirror.objects.update(looked_at=timezone.now() - timedelta(days=2))
    missed = make_run(project, state="completed", ended_at=timezone.now() - timedelta(days=1))
    assert followed(mirror) == {missed}
    make_run(project, state="completed", ended_at=timezone.now() - timedelta(hours=1))
    assert followed(mirror) == {missed}


def test_what_a_killed_process_left_is_deleted(own_folder: Path) -> None:
    left, fresh = own_folder / "mirror-sessions" / "left", own_folder / "mirror-sessions" / "fresh"
    for folder in (left, fresh):
        folder.mkdir(parents=True)
        (folder / "picture.png").write_bytes(b"pixels")
    os.utime(left, (0, 0))
    mirror_due()
    assert (left.exists(), fresh.exists()) == (False, True)


def test_a_mirror_of_named_runs_follows_those_whose_specs_name_it(
    make_mirror: MakeMirror, make_run: MakeRun, project: Project
) -> None:
    mirror = make_mirror(name="papers", is_for_every_run=False)
    make_run(project)
    named = make_run(project, small_spec(mirrors=["papers"]))
    make_run(project, small_spec(mirrors=["others"]))
    assert followed(mirror) == {named}


def test_a_spec_that_names_an_unknown_mirror_is_refused_with_those_there_are(
    make_mirror: MakeMirror, project: Project
) -> None:
    make_mirror(name="papers")
    assert check_spec(small_spec(mirrors=["papers"]), project).ok
    errors = check_spec(small_spec(mirrors=["paper"]), project).errors
    assert errors == {"mirrors": ["`mirrors` must name mirrors of Shapes, got `paper`: there is `papers`"]}


def test_a_mirror_that_is_off_gets_nothing_and_all_it_lacks_once_it_is_on(
    driver: Driver, make_mirror: MakeMirror, alice: User
) -> None:
    mirror = make_mirror()
    driver.train(1)
    round_now()
    change_mirror(user=alice, mirror=mirror, is_active=False)
    driver.train(2)
    assert round_now().batch == 1
    change_mirror(user=alice, mirror=mirror, is_active=True)
    assert round_now().batch == 2


def test_a_run_that_is_resumed_after_its_end_is_followed_again(driver: Driver, make_mirror: MakeMirror) -> None:
    make_mirror()
    driver.train(1)
    move(driver.run.pk, [RunState.RUNNING], RunState.STOPPING, reason="asked", actor="alice")
    move(driver.run.pk, [RunState.STOPPING], RunState.STOPPED, reason="asked", actor="alice")
    assert round_now().state == MirroringState.DONE
    move(driver.run.pk, [RunState.STOPPED], RunState.QUEUED, reason="asked", actor="alice")
    assert round_now().state == MirroringState.FOLLOWING


def test_a_run_that_reported_nothing_is_done_without_being_written(make_mirror: MakeMirror, driver: Driver) -> None:
    make_mirror()
    move(driver.run.pk, [RunState.RUNNING], RunState.FAILED, reason="no lanes", actor="driver")
    row = round_now()
    assert (row.state, row.accepted_at, row.error) == (MirroringState.DONE, None, "")


def test_failures_are_counted_tried_ever_later_and_given_up(
    driver: Driver, make_mirror: MakeMirror, settings: Any, tmp_path: Any
) -> None:
    make_mirror()
    (tmp_path / "tensorboard").write_text("not a folder")
    driver.train(1)
    waits = []
    for num_failures in range(1, len(RETRY_AFTER_SECONDS) + 1):
        row = round_now()
        assert (row.state, row.num_failures, row.after_seq) == (MirroringState.FOLLOWING, num_failures, 0)
        assert row.next_at is not None
        waits.append(round((row.next_at - timezone.now()).total_seconds(), -1))
    assert waits == [pytest.approx(wait, abs=10) for wait in RETRY_AFTER_SECONDS]
    row = round_now()
    assert (row.state, row.next_at) == (MirroringState.GIVEN_UP, None)
    assert "Not a directory" in row.error or "File exists" in row.error


def test_what_the_tool_said_is_told_without_the_credential(
    driver: Driver, make_mirror: MakeMirror, settings: Any
) -> None:
    settings.TANDEM_MIRROR_HOSTS = ["127.0.0.1"]
    make_mirror(MirrorKind.MLFLOW, address="http://127.0.0.1:9/mlflow", credential="127.0.0.1")
    driver.train(1)
    row = round_now()
    assert "•••" in row.error
    assert "127.0.0.1" not in row.error


def test_a_server_that_does_not_answer_is_told_of_soon_and_in_words(
    driver: Driver, make_mirror: MakeMirror, settings: Any
) -> None:
    settings.TANDEM_MIRROR_HOSTS = ["127.0.0.1"]
    make_mirror(MirrorKind.WANDB, address="http://127.0.0.1:9")
    driver.train(1)
    began = time.monotonic()
    assert round_now().error == "ConnectionError: 127.0.0.1: [Errno 111] Connection refused"
    assert time.monotonic() - began < sessions.MAX_SECONDS / 10


def test_a_session_that_lost_its_claim_moves_no_cursor(
    driver: Driver, make_mirror: MakeMirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process took the run over, or a user had it begun anew."""
    make_mirror()
    driver.train(1)

    def while_another_claims(*arguments: Any) -> Any:
        answer = sessions.hold_session(*arguments)
        MirroredRun.objects.update(next_at=timezone.now() + timedelta(hours=1))
        return answer

    monkeypatch.setattr("mirrors.mirror_rounds.hold_session", while_another_claims)
    mirror_due()
    assert MirroredRun.objects.get().after_seq == 0
