"""Forks: what fits a checkpoint, what the driver is told, and whose files stay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from runs import services
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.checkpoint_files import CheckpointGone, hold, stored
from runs.command_services import request_command
from runs.forks import ForkNeedsFiles, ForkPoint, fork_problems
from runs.models import Run, RunTransition
from runs.queue.dispatch import start_attempt
from runs.reports.driver_reports import record_evaluation, record_progress
from worker.contracts.checkpoint_names import HELD
from worker.contracts.events import EvaluationEvent
from worker.contracts.ingest import RunOrigin
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db


@pytest.fixture
def point(make_run: Callable[..., Run], project: Project, tmp_path: Path) -> ForkPoint:
    """A checkpoint of batch 1 of a completed run of two batches, with files."""
    files = tmp_path / "attempt-1" / "batch-000001"
    files.mkdir(parents=True)
    parent = make_run(project=project, name="parent", state="completed")
    return ForkPoint(parent=parent, uri=f"file://{files}", batch=1, policy_version=1)


@pytest.fixture
def fork(point: ForkPoint, alice: User, project: Project, make_spec: Callable[..., RunSpec]) -> Run:
    spec = make_spec(optimizer={"learning_rate": 1e-5})
    return services.create_run(user=alice, project=project, name="fork", spec=spec, parent=point.parent, fork=point)


def test_a_fork_counts_on_from_its_checkpoint_and_keeps_it_from_being_removed(fork: Run, point: ForkPoint) -> None:
    run = Run.objects.get(pk=fork.pk)
    assert (run.parent, run.forked_batch, run.num_batches_done, run.policy_version) == (point.parent, 1, 1, 1)
    assert (run.forked_from, run.resume_from, run.resume_batch) == (point.uri, point.uri, 1)
    assert Path(f"{point.uri}{HELD}".removeprefix("file://")).exists()
    assert RunTransition.objects.get(run=run).reason == "forked from batch 1 of parent"


def test_a_fork_that_is_refused_holds_no_files(
    point: ForkPoint, alice: User, project: Project, make_spec: Callable[..., RunSpec]
) -> None:
    asked: dict[str, Any] = {"name": "fork", "spec": make_spec(), "parent": point.parent, "fork": point}
    with pytest.raises(ValidationError, match="tag"):
        services.create_run(user=alice, project=project, tags=["x" * 1000], **asked)
    assert not Path(f"{point.uri}{HELD}".removeprefix("file://")).exists()


def test_the_driver_learns_what_the_fork_began_from(fork: Run, point: ForkPoint, cluster: Any) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    attempt = start_attempt(fork)
    assert launch(run_id=fork.pk, number=1, gateway=cluster)
    answer = trade_code(cluster.envs[attempt.submission_id]["TANDEM_BOOTSTRAP_CODE"])
    assert (answer.origin, answer.resume_from) == (RunOrigin(uri=point.uri, batch=1), point.uri)
    assert str(fork.pk) in answer.checkpoints


def test_the_first_evaluation_of_a_fork_is_its_before(fork: Run) -> None:
    for batch, reward in ((1, 0.25), (2, 0.5)):
        event = EvaluationEvent(
            seq=batch, at=1.0, batch=batch, policy_version=batch, num_samples=4, values={"reward": reward}
        )
        record_evaluation(fork.pk, event)
    headline = Run.objects.get(pk=fork.pk).headline
    assert (headline["reward_before"], headline["reward_after"], headline["batch_after"]) == (0.25, 0.5, 2)


@pytest.mark.parametrize(
    ("sections", "field", "words"),
    [
        ({"num_batches": 1}, "num_batches", "must be > 1, got 1"),
        ({"lora": {"rank": 4}}, "lora.rank", "must stay 16, got 4"),
        ({"lora": {"targets": ["attn.to_q"]}}, "lora.targets", "must stay empty, got attn.to_q"),
        ({"base_model": {"dtype": "bf16"}}, "base_model.dtype", "must stay fp32, got bf16"),
        ({"tuning": "full"}, "tuning", "must stay lora, got full"),
        ({"ema": {"decay": 0.9}}, "ema.decay", "must be 0, got 0.9"),
        ({"algorithm": {"name": "diffusion_nft"}}, "algorithm.name", "holds no older policy"),
    ],
)
def test_settings_that_do_not_fit_the_checkpoint_are_refused_by_field(
    point: ForkPoint, make_spec: Callable[..., RunSpec], sections: dict[str, Any], field: str, words: str
) -> None:
    found = fork_problems(point, make_spec(**sections))
    assert list(found) == [field]
    assert words in found[field][0]


def test_a_fork_may_change_what_the_checkpoint_does_not_hold(
    point: ForkPoint, make_spec: Callable[..., RunSpec]
) -> None:
    spec = make_spec(
        seed=5, num_batches=9, optimizer={"learning_rate": 1e-5}, batch={"num_prompts_per_batch": 3, "group_size": 4}
    )
    assert fork_problems(point, spec) == {}


def test_an_older_version_in_a_checkpoint_needs_staleness(
    make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    stale = make_run(spec=make_spec(pipeline={"max_staleness": 1}))
    point = ForkPoint(parent=stale, uri="file:///c", batch=1, policy_version=1)
    assert list(fork_problems(point, make_spec())) == ["pipeline.max_staleness"]


def test_the_older_policy_of_nft_needs_as_many_optimizer_steps_a_batch(
    make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    def spec(num_epochs: int) -> RunSpec:
        batch = {"num_prompts_per_batch": 2, "group_size": 2, "num_epochs_per_batch": num_epochs}
        return make_spec(algorithm={"name": "diffusion_nft"}, batch=batch)

    point = ForkPoint(parent=make_run(spec=spec(1)), uri="file:///c", batch=1, policy_version=1)
    assert list(fork_problems(point, spec(2))) == ["batch.num_minibatches"]


def test_a_checkpoint_whose_files_were_removed_is_not_forked(
    point: ForkPoint, alice: User, project: Project, make_spec: Callable[..., RunSpec]
) -> None:
    Path(point.uri.removeprefix("file://")).rmdir()
    with pytest.raises(ValidationError, match="its files were removed; choose one that is kept") as refused:
        services.create_run(user=alice, project=project, name="x", spec=make_spec(), parent=point.parent, fork=point)
    assert list(refused.value.message_dict) == ["checkpoint"]
    assert Run.objects.count() == 1


def test_the_parent_stays_until_the_fork_has_a_checkpoint_of_its_own(fork: Run, point: ForkPoint, alice: User) -> None:
    with pytest.raises(ForkNeedsFiles, match="fork was forked from it"):
        services.delete_run(user=alice, run=point.parent)
    record_progress(fork.pk, resume_from="file:///its/own", resume_batch=2)
    services.delete_run(user=alice, run=point.parent)
    assert Run.objects.get().parent is None


def test_a_cancelled_fork_holds_its_parent_no_longer(fork: Run, point: ForkPoint, alice: User) -> None:
    request_command(user=alice, run=fork, kind="cancel")
    services.delete_run(user=alice, run=point.parent)
    assert list(Run.objects.all()) == [fork]


def test_the_store_says_which_checkpoints_are_there(tmp_path: Path) -> None:
    (tmp_path / "attempt-1" / "batch-000002").mkdir(parents=True)
    root = f"file://{tmp_path}"
    there, gone = f"{root}/attempt-1/batch-000002", f"{root}/attempt-1/batch-000001"
    assert stored([there, gone, f"{root}/attempt-2/batch-000003"]) == {there}
    assert stored([]) == set()
    with pytest.raises(CheckpointGone):
        hold(gone)
