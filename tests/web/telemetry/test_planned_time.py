"""What a run's plans promised, lane by lane: for the lanes that it got, computed once, within bounds."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache

from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from runs.queue.dispatch import start_attempt
from telemetry.models import StreamItem
from telemetry.timeline import planned_time as planned
from telemetry.timeline.planned_time import planned_time
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
SPLIT = {"num_rollout": 2, "num_trainer": 2, "num_reward": 1}
ROLES = {"rollout-0": "rollout", "rollout-1": "rollout", "trainer-0": "trainer", "trainer-1": "trainer"}
ROLES |= {"reward-0": "reward"}


@pytest.fixture
def planned_run(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]) -> Run:
    """A run that has begun to work by its first plan."""
    cache.clear()
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=make_spec(pipeline={"placement": "auto"}, lanes=SPLIT))
    attempt = start_attempt(run)
    plan = attempt.plan_revisions.get().plan
    choice = plan["by_mode"][plan["mode"]]
    numbers = {"rollout": choice["num_rollout"], "trainer": choice["num_trainer"], "reward": 1}
    lanes = [
        {"lane": f"{role}-{index}", "role": role, "device": "cpu", "node": "a", "pid": 1}
        for role in numbers
        for index in range(numbers[role])
    ]
    report(run, 1, "lanes", at=100.0, lanes=lanes, algebra=run.algebra)
    return run


def report(run: Run, seq: int, kind: str, *, at: float, **body: Any) -> None:
    StreamItem.objects.create(run=run, stream_seq=seq, attempt=1, seq=seq, type=kind, at=at, body=body)


def test_a_plan_is_told_for_the_lanes_of_the_run_and_promises_what_the_planner_did(planned_run: Run) -> None:
    (found,) = planned_time(planned_run.pk)
    plan = planned_run.plan_revisions.get().plan
    assert (found["revision"], found["since"], found["since_batch"], found["not_drawn"]) == (1, 100.0, 0, None)
    lanes = {lane["lane"] for lane in StreamItem.objects.get(run=planned_run, type="lanes").body["lanes"]}
    for batch in (*found["lead"], *found["cycle"]):
        assert {span["lane"] for span in batch["spans"]} == lanes
    if plan["by_mode"][plan["mode"]]["pipeline"]["max_staleness"] == 0:
        promised = plan["by_mode"][plan["mode"]]["batch_seconds"]
        assert [batch["seconds"] for batch in found["cycle"]] == pytest.approx([promised, promised])


def adopt(run: Run, since_batch: int, *, at: float, max_staleness: int = 0, gap: bool = True) -> None:
    """The run goes on with the lanes `ROLES`, each of one role."""
    last = run.plan_revisions.latest("number")
    pipeline = {**last.spec["pipeline"], "placement": "disaggregated", "tag": "off"}
    pipeline |= {"max_staleness": max_staleness, "gap": gap}
    spec = {**last.spec, "pipeline": pipeline, "lanes": {**last.spec["lanes"], **SPLIT}}
    number = last.number + 1
    last.__class__.objects.create(
        run=run, attempt=last.attempt, number=number, since_batch=since_batch, reason="", spec=spec, plan=last.plan
    )
    seconds = {"seconds_before": 2.0, "batch_seconds": 1.0, "bound_seconds": 0.5, "predicted_move_seconds": 0.0}
    about = {"reason": "", "pipeline": pipeline, "fragment_size": 1, "move_seconds": 0.0, **seconds}
    report(run, 10 + number, "plan", at=at, batch=since_batch, lanes=ROLES, **about)


def test_a_plan_adopted_while_the_run_works_rests_on_what_was_measured(planned_run: Run) -> None:
    slow = {"kind": "generate", "lane": "rollout-0", "per_call": 50.0, "per_unit": 0.0, "observed_units": [1, 9]}
    report(
        planned_run,
        2,
        "costs",
        at=150.0,
        batch=3,
        costs=[{**slow, "lane": lane} for lane in ROLES if "rollout" in lane],
    )
    adopt(planned_run, 3, at=200.0)
    before, after = planned_time(planned_run.pk)
    assert (after["since"], after["since_batch"], after["lead"]) == (200.0, 3, [])
    assert after["cycle"][0]["seconds"] > 20 > before["cycle"][0]["seconds"]


def test_a_plan_that_the_run_was_drained_for_begins_with_batches_that_fill_the_pipeline(planned_run: Run) -> None:
    adopt(planned_run, 3, at=200.0, max_staleness=1)
    adopt(planned_run, 6, at=300.0, max_staleness=1, gap=False)
    _, drained, switched = planned_time(planned_run.pk)
    assert drained["lead"] and drained["cycle"]
    assert switched["cycle"] and not switched["lead"]


def test_a_plan_is_computed_once(planned_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = planned_time(planned_run.pk)
    monkeypatch.setattr(planned, "planned_batches", None)
    assert planned_time(planned_run.pk) == found


@pytest.mark.parametrize(
    ("bound", "said"), [("MAX_LANES", "at most 2 lanes"), ("MAX_FRAGMENTS", "fragments"), ("MAX_SPANS", "spans")]
)
def test_a_plan_too_large_to_draw_says_so(
    planned_run: Run, monkeypatch: pytest.MonkeyPatch, bound: str, said: str
) -> None:
    monkeypatch.setattr(planned, bound, 2)
    (found,) = planned_time(planned_run.pk)
    assert (found["lead"], found["cycle"]) == ([], [])
    assert said in str(found["not_drawn"])


def test_without_a_plan_nothing_was_promised(make_run: Callable[..., Run]) -> None:
    assert planned_time(make_run().pk) == []
