"""A run's schedule log over REST under other settings: refused in sentences, answered with its own error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import Project, User
from runs.models import Run
from telemetry.models import StreamItem
from tests.scheduling.rescheduling.recorded_runs import TrueCosts, run_for_real, spec_of
from tests.web.analysis.conftest import store_picture
from worker.engine.control.schedule_logger import compressed
from worker.scheduling.rescheduling import reschedule

pytestmark = pytest.mark.django_db


@pytest.fixture
def logged(make_run: Callable[..., Run], project: Project, tmp_path: Path, settings: Any) -> Run:
    """A run whose log the driver has uploaded in two parts."""
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}"
    spec = spec_of(num_batches=3)
    lines = list(run_for_real(spec, TrueCosts(noise=0.2)).lines)
    made = make_run(project=project, spec=spec, state="completed", attempt=1)
    for number, part in enumerate((lines[:200], lines[200:]), start=1):
        store_picture(made, f"schedule/0001/{number:06d}.jsonl.gz", compressed(part))
    return made


def post(user: User, run: Run, **asked: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client.post(f"/api/v1/runs/{run.pk}/replays", asked, content_type="application/json")


def test_a_replay_comes_with_its_own_error_and_a_spec_to_rerun(logged: Run, alice: User) -> None:
    answer = post(alice, logged, max_staleness=1, num_rollout=4).json()
    assert answer["num_batches"] == 3 == len(answer["chosen"]["batch_seconds"])
    assert abs(answer["errors"]["recorded"]) < 0.001
    assert answer["own"]["seconds"] == pytest.approx(answer["measured"]["seconds"], rel=0.001)
    assert answer["chosen"]["seconds"] < 0.9 * answer["own"]["seconds"]
    assert (answer["spec"]["pipeline"]["max_staleness"], answer["spec"]["lanes"]["num_rollout"]) == (1, 4)
    assert any("rollout-3" in span["lane"] for span in answer["chosen"]["spans"])
    assert "taken to be like" in answer["warnings"][0]


def test_lending_by_search_is_replayed(logged: Run, alice: User) -> None:
    answer = post(alice, logged, tag="search").json()
    assert answer["spec"]["pipeline"]["tag"] == "search"
    assert answer["chosen"]["seconds"] <= 1.01 * answer["own"]["seconds"]
    assert any(span["kind"] == "lent_generate" for span in answer["chosen"]["spans"])
    assert answer["chosen_range"] is None


def test_lending_by_search_that_takes_too_long_is_refused_with_what_to_choose(
    logged: Run, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reschedule, "MAX_SEARCH_SIZE", 1)
    refused = post(alice, logged, tag="search")
    assert (refused.status_code, "choose `tag` `greedy` or `off`" in refused.json()["detail"]) == (409, True)


def test_another_device_comes_with_the_range_that_its_profile_allows(logged: Run, alice: User) -> None:
    roles = {"rollout": 3, "trainer": 2, "reward": 1}
    lanes = [
        {"lane": f"{role}-{index}", "role": role, "node": "n", "device": "NVIDIA L40S", "pid": 1, "uuids": []}
        for role, number in roles.items()
        for index in range(number)
    ]
    body = {"lanes": lanes, "algebra": logged.algebra, "resize": None}
    StreamItem.objects.create(run=logged, stream_seq=1, attempt=1, seq=1, type="lanes", at=0.0, body=body)
    answer = post(alice, logged, device="h100").json()
    found = answer["chosen_range"]
    assert found["least"] < answer["chosen"]["seconds"] < found["most"]
    assert answer["chosen"]["seconds"] < answer["own"]["seconds"]
    assert "which no run has checked" in answer["warnings"][0]


def test_a_replay_that_cannot_be_is_refused_in_a_sentence(
    logged: Run, make_run: Callable[..., Run], project: Project, alice: User, charlie: User
) -> None:
    assert post(charlie, logged).status_code == 404
    unlogged = post(alice, make_run(project=project))
    assert (unlogged.status_code, unlogged.json()["detail"][:34]) == (409, "this run has no schedule log: its ")
    refused = post(alice, logged, fragment_size=3)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["fragment_size"])
    assert list(post(alice, logged, num_trainer=0).json()["errors"]) == ["num_trainer"]
    assert list(post(alice, logged, device="h100").json()["errors"]) == ["device"]
