"""The checkpoint that a fork began from is let go once no fork needs it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.models import Project, User
from runs import services
from runs.fork_release import release_checkpoint
from runs.forks import ForkPoint
from runs.models import Run
from runs.reports.driver_reports import apply_event
from worker.contracts.checkpoint_names import HELD
from worker.contracts.events import CheckpointEvent
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeFork = Callable[[str], Run]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The checkpoint of batch 1 of an attempt."""
    files = tmp_path / "attempt-1" / "batch-000001"
    files.mkdir(parents=True)
    (files / "weights").write_text("w")
    return files


@pytest.fixture
def point(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], project: Project, files: Path) -> ForkPoint:
    """The same of a completed run that keeps one checkpoint."""
    spec = make_spec(checkpoint={"num_kept": 1})
    parent = make_run(project=project, name="parent", state="completed", spec=spec)
    return ForkPoint(parent=parent, uri=f"file://{files}", batch=1, policy_version=1)


@pytest.fixture
def make_fork(point: ForkPoint, alice: User, project: Project, make_spec: Callable[..., RunSpec]) -> MakeFork:
    def make(name: str) -> Run:
        return services.create_run(
            user=alice, project=project, name=name, spec=make_spec(), parent=point.parent, fork=point
        )

    return make


def is_held(files: Path) -> bool:
    return Path(f"{files}{HELD}").exists()


def first_checkpoint(fork: Run) -> None:
    event = CheckpointEvent(
        seq=1, at=1.0, batch=2, policy_version=2, optimizer_step=2, uri="file:///its/own", num_bytes=1
    )
    apply_event(fork.pk, fork.attempt, event)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    """Tasks that were enqueued, by name and arguments."""
    sent: list[tuple[str, tuple[str, ...]]] = []
    monkeypatch.setattr("runs.fork_release.enqueue_on_commit", lambda name, *args: sent.append((name, args)))
    return sent


def test_a_forks_first_checkpoint_releases_its_origin_and_later_ones_do_not(
    make_fork: MakeFork, point: ForkPoint, sent: list[tuple[str, tuple[str, ...]]], files: Path
) -> None:
    fork = make_fork("fork")
    assert is_held(files) and not sent
    first_checkpoint(fork)
    first_checkpoint(fork)
    assert sent == [("tandem.runs.release_checkpoint", (str(point.parent.pk), point.uri))]
    assert release_checkpoint(point.parent.pk, point.uri)
    assert not is_held(files) and files.exists(), "it is the only checkpoint that the run has"


def test_it_stays_held_while_another_fork_has_no_checkpoint_of_its_own(
    make_fork: MakeFork, point: ForkPoint, files: Path
) -> None:
    first, second = make_fork("first"), make_fork("second")
    first_checkpoint(first)
    assert not release_checkpoint(point.parent.pk, point.uri)
    assert is_held(files)
    first_checkpoint(second)
    assert release_checkpoint(point.parent.pk, point.uri)
    assert not is_held(files)


def test_a_deleted_fork_releases_its_origin(
    make_fork: MakeFork, point: ForkPoint, alice: User, sent: list[tuple[str, tuple[str, ...]]]
) -> None:
    fork = make_fork("fork")
    Run.objects.filter(pk=fork.pk).update(state="cancelled")
    services.delete_run(user=alice, run=fork)
    assert [name for name, _ in sent] == ["tandem.runs.release_checkpoint"]


def test_what_the_run_would_have_removed_is_removed_when_it_is_let_go(
    make_fork: MakeFork, point: ForkPoint, files: Path
) -> None:
    fork = make_fork("fork")
    (files.parent / "batch-000002").mkdir()
    first_checkpoint(fork)
    assert release_checkpoint(point.parent.pk, point.uri)
    assert not files.exists() and (files.parent / "batch-000002").exists()


def test_a_checkpoint_of_a_deleted_run_is_no_error(point: ForkPoint) -> None:
    Run.objects.filter(pk=point.parent.pk).delete()
    assert not release_checkpoint(point.parent.pk, point.uri)
