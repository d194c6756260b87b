"""Plans are made once for what they depend on, in no transaction, whatever the order of the devices."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.lane_layout import ensure_local_lanes
from runs.models import CachedPlan, Run
from runs.planning import plan_cache
from runs.planning.auto_placement import hypothetical_plan
from runs.planning.plan_cache import NOT_PLANNED_BY, PlanBeingMade, planned, positions_of
from runs.queue.dispatch import dispatch_waiting
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.planner import plan

MakeSpec = Callable[..., RunSpec]
H100, L40S = "NVIDIA H100 80GB HBM3", "NVIDIA L40S"
AUTO: dict[str, Any] = {
    "pipeline": {"placement": "auto"},
    "lanes": {"num_rollout": 3, "num_trainer": 1, "num_reward": 1},
}


@pytest.fixture
def num_plans(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the planner has worked, as a list of its numbers of devices."""
    seen: list[int] = []

    def counted(*args: Any, devices: Any, **kwargs: Any) -> Any:
        seen.append(len(devices))
        return plan(*args, devices=devices, **kwargs)

    monkeypatch.setattr("runs.planning.plan_cache.plan", counted)
    return seen


@pytest.mark.django_db
def test_the_same_question_is_answered_from_what_was_kept(make_spec: MakeSpec, num_plans: list[int]) -> None:
    first = planned(make_spec(**AUTO), [H100] * 4)
    again = planned(make_spec(**AUTO), [H100] * 4)
    assert (again, num_plans) == (first, [4])
    planned(make_spec(**AUTO), [H100] * 3 + [L40S])
    planned(make_spec(**AUTO, batch={"num_prompts_per_batch": 3, "group_size": 4}), [H100] * 4)
    assert len(num_plans) == 3, "other devices and other work are other questions"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 5},
        {"priority": "high"},
        {"elastic": {"max_rollout": 9}},
        {"max_attempts": 1},
        {"num_batches": 3},
        {"optimizer": {"learning_rate": 1e-5}},
        {"evaluation": {"every_num_batches": None}},
        {"checkpoint": {"every_num_batches": 3}},
        {"replay_gate": {"max_mean_error": 0.5}},
        {"prompts": {"inline": ["a", "b", "c", "d"]}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_no_plan_depends_on_is_no_part_of_the_question(
    make_spec: MakeSpec, num_plans: list[int], changes: dict[str, Any]
) -> None:
    assert set(changes) <= NOT_PLANNED_BY
    kept = planned(make_spec(**AUTO), [H100] * 4)
    asked = make_spec(**AUTO, **changes)
    found = planned(asked, [H100] * 4)
    assert (found, len(num_plans)) == (kept, 1)
    assert found.applied_to(asked).model_dump(include=set(changes)) == asked.model_dump(include=set(changes))
    CachedPlan.objects.all().delete()
    assert planned(asked, [H100] * 4) == kept, "and the planner agrees"


@pytest.mark.django_db
def test_another_version_of_the_planner_makes_its_own_plans(
    make_spec: MakeSpec, num_plans: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(make_spec(**AUTO), [H100] * 4)
    monkeypatch.setattr("runs.planning.plan_cache.planner_digest", lambda: "another")
    planned(make_spec(**AUTO), [H100] * 4)
    assert len(num_plans) == 2


@pytest.mark.django_db
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(devices=st.permutations([H100, H100, L40S, "cpu"]))
def test_the_order_of_the_devices_changes_nothing(make_spec: MakeSpec, devices: list[str]) -> None:
    canonical = sorted(devices)
    first, found = planned(make_spec(**AUTO), canonical), planned(make_spec(**AUTO), devices)
    assert found.sections == first.sections
    assert Counter(devices[position] for position in found.body["trainers"]) == Counter(
        canonical[position] for position in first.body["trainers"]
    )


@given(devices=st.lists(st.sampled_from("abc"), min_size=1, max_size=9), data=st.data())
def test_as_many_of_each_kind_are_chosen_in_any_order_the_last_ones_first(devices: list[str], data: Any) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(devices) - 1)))
    canonical = sorted(devices)
    found = positions_of(canonical, sorted(chosen), devices)
    assert list(found) == sorted(set(found))
    assert Counter(devices[position] for position in found) == Counter(canonical[position] for position in chosen)
    left = set(range(len(devices))) - set(found)
    assert all(one < other for one in left for other in found if devices[one] == devices[other])


@pytest.mark.django_db(transaction=True)
def test_while_a_plan_is_made_dispatchers_go_on_and_pages_wait_for_it(
    make_run: Callable[..., Run], make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run, asked = make_run(spec=make_spec(**AUTO)), make_spec(**AUTO)
    began, may_end = threading.Event(), threading.Event()
    seen: dict[str, Any] = {}

    def slowly(*args: Any, **kwargs: Any) -> Any:
        assert not connection.in_atomic_block, "no transaction is open meanwhile"
        began.set()
        assert may_end.wait(timeout=20)
        return plan(*args, **kwargs)

    def keep(name: str, act: Callable[[], Any]) -> threading.Thread:
        def work() -> None:
            try:
                seen[name] = act()
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    monkeypatch.setattr("runs.planning.plan_cache.plan", slowly)
    first = keep("dispatched", dispatch_waiting)
    assert began.wait(timeout=20)
    with pytest.raises(PlanBeingMade):
        planned(asked, ["cpu"] * 4, wait=False)
    assert dispatch_waiting() == [], "another dispatcher leaves the run to the first"
    monkeypatch.setattr("runs.planning.plan_cache.plan", None)
    waiting = keep("shown", lambda: hypothetical_plan(asked))
    waiting.join(timeout=0.3)
    assert waiting.is_alive()
    may_end.set()
    for thread in (first, waiting):
        thread.join(timeout=20)
    assert seen["dispatched"] == [run.pk]
    assert seen["shown"]["fits_pool"] is True
    assert CachedPlan.objects.count() == 1


@pytest.mark.django_db
def test_old_plans_go_when_new_ones_are_made(make_spec: MakeSpec) -> None:
    planned(make_spec(**AUTO), [H100] * 4)
    CachedPlan.objects.update(created_at="2020-01-01T00:00:00Z")
    planned(make_spec(**AUTO), [L40S] * 4)
    assert CachedPlan.objects.count() == 1
    assert plan_cache.planner_digest() == plan_cache.planner_digest()
