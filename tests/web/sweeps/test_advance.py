"""The dispatcher on Postgres: just the runs that were asked for, pruned as Optuna says, within the budget, whatever
dies in between."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Membership, Project, User
from fleet.models import LaneUse
from runs.models import PendingCommand, Run, RungReport, Sweep, SweepPoint, SweepRun
from runs.services import create_run, delete_run
from sweeps import advance as dispatcher
from sweeps import judging
from sweeps.advance import advance, advance_all, may_have_work
from sweeps.progress import points_of
from sweeps.selectors import sweep_body
from sweeps.services import stop_sweep
from tests.web.sweeps.conftest import MakeSweep
from tests.web.sweeps.swept_runs import SAMPLES_PER_BATCH, runs_of, tell, train

pytestmark = pytest.mark.django_db
HALVING = {"kind": "successive_halving", "min_samples": 2 * SAMPLES_PER_BATCH, "reduction_factor": 2}


def states(sweep: Sweep) -> list[str]:
    return [point.state.value for point in points_of(sweep)]


def hold_lane(run: Run, *, hours: float, gpus: int = 1) -> None:
    """A lane of so many GPUs that the run held for so long."""
    end = timezone.now()
    names = [f"gpu-{number}" for number in range(gpus)]
    LaneUse.objects.create(
        label="lane", gpus=names, run_id=run.pk, role="rollout", name_in_run="r0",
        project=run.project, since=end - timedelta(hours=hours), until=end,
    )  # fmt: skip


def test_every_point_gets_a_run_for_every_seed_and_no_more(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(num_seeds=2, max_parallel_runs=3)
    assert may_have_work()
    made = [advance_all() for _ in range(3)]
    assert made == [3, 0, 0], "no more than three at a time"
    while Sweep.objects.get().ended_at is None:
        live = [run for run in runs_of(sweep) if not run.has_ended]
        assert 0 < len(live) <= 3
        train(live[0], {10: 0.5}, ends="completed")
        assert may_have_work()
        advance_all()
    assert not may_have_work()
    runs = runs_of(sweep)
    assert [run.run_spec.optimizer.learning_rate for run in runs] == [1e-4, 1e-4, 2e-4, 2e-4, 3e-4, 3e-4, 4e-4, 4e-4]
    assert [run.run_spec.seed for run in runs] == [0, 1] * 4
    assert [run.name for run in runs[:3]] == ["rates #1 seed 0", "rates #1 seed 1", "rates #2 seed 0"]
    assert runs[0].transitions.first().reason == "created by the sweep rates: point 1, seed 0"  # type: ignore[union-attr]
    assert states(sweep) == ["completed"] * 4
    assert (Sweep.objects.get().state, Sweep.objects.get().reason) == ("completed", "")


def test_points_are_pruned_as_optuna_says_by_the_mean_of_their_seeds(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(num_seeds=2, pruner=HALVING)
    advance(sweep.pk)
    rewards = [(0.5, 0.7), (0.9, 0.1), (0.6, 0.8), (0.4, 0.4)]
    for place, reward in enumerate(reward for pair in rewards for reward in pair):
        train(runs_of(sweep)[place], {0: 0.0, 2: reward})
    advance(sweep.pk)
    reports = list(RungReport.objects.order_by("pk").values_list("point__number", "value", "is_pruned"))
    assert [(point, round(value, 6), pruned) for point, value, pruned in reports] == [
        (1, 0.6, False),
        (2, 0.5, True),
        (3, 0.7, False),
        (4, 0.4, True),
    ]
    assert states(sweep) == ["running", "pruned", "running", "pruned"]
    runs = runs_of(sweep)
    assert [run.state for run in runs] == ["running"] * 2 + ["stopping"] * 2 + ["running"] * 2 + ["stopping"] * 2
    said = runs[2].transitions.last()
    assert said is not None
    assert said.actor == "sweep"
    assert "which pruned it: eval/reward 0.5 at 8 samples, the mean of 2 seeds: place 2 of the 2 points" in said.reason
    assert PendingCommand.objects.filter(kind="stop").count() == 4
    assert advance(sweep.pk) == 0
    assert RungReport.objects.count() == 4, "a point is judged once at a rung"


def test_a_point_waits_for_its_slowest_seed_and_leaves_out_one_that_failed(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(num_seeds=2, pruner=HALVING)
    advance(sweep.pk)
    first, second = runs_of(sweep)[:2]
    train(first, {1: 0.1, 3: 0.3})
    advance(sweep.pk)
    assert not RungReport.objects.exists()
    train(second, {1: 0.9}, ends="failed")
    advance(sweep.pk)
    report = RungReport.objects.get()
    assert (report.value, report.num_samples) == (0.3, 8), "the first value at or behind the rung"


def test_points_are_compared_at_equal_samples_though_their_batches_differ(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(
        space={"batch.group_size": {"kind": "choice", "values": [2, 4]}},
        pruner={"kind": "successive_halving", "min_samples": 16, "reduction_factor": 2},
    )
    advance(sweep.pk)
    small, large = runs_of(sweep)
    train(small, {2: 0.9, 4: 0.2})
    train(large, {1: 0.9, 2: 0.4})
    advance(sweep.pk)
    reports = RungReport.objects.order_by("pk").values_list("num_samples", "value", "is_pruned")
    assert list(reports) == [(16, 0.2, False), (16, 0.4, False)]


def test_a_point_that_passed_several_rungs_is_judged_at_each(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(pruner=HALVING)
    advance(sweep.pk)
    for run, late in zip(runs_of(sweep), [0.5, 0.6, 0.1, 0.2], strict=True):
        train(run, {2: late + 0.1, 4: late, 8: late}, ends="completed")
    advance(sweep.pk)
    per_rung = [RungReport.objects.filter(num_samples=rung).count() for rung in (8, 16, 32)]
    assert per_rung == [4, 2, 2]
    assert states(sweep) == ["completed", "completed", "pruned", "pruned"]
    assert Sweep.objects.get().state == "completed"


def test_no_run_starts_once_the_budget_is_spent_and_that_is_said(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(max_parallel_runs=1, budget_gpu_hours=5.0)
    advance(sweep.pk)
    hold_lane(runs_of(sweep)[0], hours=2, gpus=2)
    train(runs_of(sweep)[0], {10: 0.5}, ends="completed")
    assert advance(sweep.pk) == 1, "4 of 5 GPU-hours"
    hold_lane(runs_of(sweep)[1], hours=1)
    train(runs_of(sweep)[1], {10: 0.6}, ends="completed")
    delete_run(user=sweep.created_by or pytest.fail(), run=runs_of(sweep)[0])
    assert advance(sweep.pk) == 0, "what a deleted run cost counts on"
    ended = Sweep.objects.get()
    assert ended.state == "completed"
    assert ended.reason == "the budget of 5 GPU-hours is spent (5 so far): 2 runs were not started"
    assert sweep_body(sweep.created_by, ended)["gpu_hours"] == pytest.approx(5, abs=1e-3)  # type: ignore[arg-type]


def test_a_deleted_run_is_not_made_again(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(max_parallel_runs=1)
    advance(sweep.pk)
    train(runs_of(sweep)[0], {}, ends="failed")
    delete_run(user=sweep.created_by or pytest.fail(), run=runs_of(sweep)[0])
    advance(sweep.pk)
    assert [run.run_spec.optimizer.learning_rate for run in runs_of(sweep)] == [2e-4]


def test_runs_are_created_in_the_name_of_a_user_who_may(
    make_sweep: MakeSweep, alice: User, bob: User, project: Project
) -> None:
    sweep = make_sweep(max_parallel_runs=1)
    Sweep.objects.update(created_by=bob)
    advance(sweep.pk)
    train(runs_of(sweep)[0], {}, ends="completed")
    Membership.objects.filter(user=bob).update(role="viewer")
    assert advance(sweep.pk) == 0
    ended = Sweep.objects.get()
    assert (ended.state, len(runs_of(sweep))) == ("completed", 1)
    assert ended.reason.startswith("bob may create no runs in Shapes any more: this needs the role editor")


def test_a_point_that_became_invalid_says_so_and_the_others_go_on(
    make_sweep: MakeSweep,
) -> None:
    sweep = make_sweep()
    values = SweepPoint.objects.get(number=2)
    values.values = {"optimizer.learning_rate": -1}
    values.save()
    assert advance(sweep.pk) == 4, "a place that cannot be filled is done with"
    assert len(runs_of(sweep)) == 3
    refused = SweepRun.objects.get(point=values)
    assert "`optimizer.learning_rate` must be" in refused.problem
    assert states(sweep)[1] == "failed"


def test_a_stopped_sweep_stops_its_runs_and_ends_with_them(make_sweep: MakeSweep, alice: User) -> None:
    sweep = make_sweep(max_parallel_runs=2)
    advance(sweep.pk)
    at_work = runs_of(sweep)[0]
    train(at_work, {1: 0.1})
    stop_sweep(user=alice, sweep=sweep)
    assert [run.state for run in runs_of(sweep)] == ["stopping", "cancelled"]
    advance(sweep.pk)
    assert Sweep.objects.get().state == "stopping", "one of its runs still works"
    tell(at_work, {"type": "state", "state": "stopped"})
    advance(sweep.pk)
    ended = Sweep.objects.get()
    assert (ended.state, ended.reason, len(runs_of(sweep))) == ("stopped", "alice stopped it", 2)


class Killed(BaseException):
    """Where the worker dies: nothing after it happens, its transaction is gone."""


@pytest.mark.parametrize("step", ["create_run", "judge", "_end", "stop_run_for"])
def test_a_worker_that_dies_in_any_step_makes_no_run_twice_and_loses_none(
    make_sweep: MakeSweep, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    module: Any = judging if step == "stop_run_for" else dispatcher
    two = {"optimizer.learning_rate": {"kind": "choice", "values": [1e-4, 2e-4]}}
    sweep = make_sweep(space=two, pruner=HALVING, max_parallel_runs=1)
    done = getattr(module, step)

    def die_after(*args: Any, **kwargs: Any) -> None:
        done(*args, **kwargs)
        raise Killed

    def killed_round() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(module, step, die_after)
            with suppress(Killed):
                advance_all()

    while Sweep.objects.get().ended_at is None:
        killed_round()
        advance_all()
        for run in runs_of(sweep):
            if run.state == "stopping":
                tell(run, {"type": "state", "state": "stopped"})
            elif not run.has_ended:
                reward = 1 - run.run_spec.optimizer.learning_rate
                train(run, {2: reward, 4: reward})
                killed_round()
                advance_all()
                run.refresh_from_db()
                if run.state == "running":
                    tell(run, {"type": "state", "state": "completed"})
    rates = [run.run_spec.optimizer.learning_rate for run in runs_of(sweep)]
    assert rates == [1e-4, 2e-4]
    assert [run.state for run in runs_of(sweep)] == ["completed", "stopped"]
    assert PendingCommand.objects.filter(kind="stop").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_second_worker_passes_over_a_sweep_that_is_worked_on(
    make_sweep: MakeSweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = make_sweep(max_parallel_runs=2)
    create: Callable[..., Run] = create_run
    of_the_other: list[int] = []

    def advance_elsewhere() -> None:
        of_the_other.append(advance_all())
        connection.close()

    def create_while_another_tries(**asked: Any) -> Run:
        monkeypatch.setattr(dispatcher, "create_run", create)
        other = threading.Thread(target=advance_elsewhere)
        other.start()
        other.join()
        return create(**asked)

    monkeypatch.setattr(dispatcher, "create_run", create_while_another_tries)
    assert advance_all() == 2
    assert (of_the_other, len(runs_of(sweep))) == ([0], 2)
    assert not transaction.get_connection().in_atomic_block
