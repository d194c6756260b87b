"""Which of the free lanes a run gets: by plans for each kind that is free, alike for a gang, and just those chosen."""

import uuid
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from accounts.models import User
from fleet.allocation.wide_lanes import set_gpus_per_lane
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, Node
from fleet.selectors import devices_by_lane, free_lanes, grants_of
from fleet.services import allocate, release
from runs.models import Attempt, PlanRevision, Run
from runs.planning.auto_placement import hypothetical_plan
from runs.queue import dispatch
from runs.queue.dispatch import LanesTaken, LanesUnsuitable, dispatch_waiting, start_attempt
from runs.spec_check import warnings_of
from runs.start_checks.capacity_checks import memory_check
from runs.start_checks.check_rows import CheckState
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec
from worker.contracts.node_reports import CardFigures, GpuIdentity, Vendor
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.planner import plan
from worker.scheduling.profiles.described_cards import card_name

pytestmark = pytest.mark.django_db
H100, L40S, OTHER = "NVIDIA H100 80GB HBM3", "NVIDIA L40S", "NVIDIA A100-SXM4-80GB"
LANES = {"num_rollout": 2, "num_trainer": 2, "num_reward": 1}
AUTO = {"pipeline": {"placement": "auto"}, "lanes": LANES}
FIXED = {**AUTO, "pipeline": {"placement": "disaggregated"}}
MakeRun = Callable[..., Run]
MakeSpec = Callable[..., RunSpec]


def pool(**nodes: tuple[str, int]) -> None:
    """Nodes by name with their accelerator and number of GPUs, and CPU lanes."""
    for name, (accelerator, number) in nodes.items():
        ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(number), accelerator=accelerator, node=name)


def devices_of(run: Run) -> dict[str, Counter[str]]:
    """Devices by role."""
    device_of = devices_by_lane(run.pk, 1)
    found: dict[str, Counter[str]] = {}
    for grant in grants_of(run.pk, 1):
        found.setdefault(grant.role.value, Counter())[device_of[grant.lane]] += 1
    return found


def working_devices(run: Run) -> Counter[str]:
    found = devices_of(run)
    return found.get("rollout", Counter()) + found.get("trainer", Counter())


def test_of_several_kinds_the_fastest_by_plan_is_taken_wherever_it_stands(
    make_run: MakeRun, make_spec: MakeSpec
) -> None:
    pool(a=(L40S, 4), b=(H100, 4))
    run = make_run(spec=make_spec(**AUTO))
    assert dispatch_waiting() == [run.pk]
    assert working_devices(run) == {H100: 4}
    reason = PlanRevision.objects.get(run=run).reason
    assert reason.startswith(f"4 × {H100}: the fastest of 2 choices among the free lanes (4 × {H100}, 4 × {L40S}); ")
    assert f"4 × {L40S} would reach " in reason


@pytest.mark.parametrize("asked", [FIXED, AUTO], ids=["fixed", "auto"])
def test_lanes_of_several_gpus_train_where_the_run_can_be_spread_over_them(
    make_run: MakeRun, make_spec: MakeSpec, admin: User, asked: dict[str, Any]
) -> None:
    """Of FLUX.1, whose prompts of 512 tokens two GPUs divide."""
    pool(a=(H100, 8))
    set_gpus_per_lane(user=admin, node=Node.objects.get(), number=2)
    model = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}
    run = make_run(spec=make_spec(**asked, base_model=model))
    assert dispatch_waiting() == [run.pk]
    assert devices_of(run)["trainer"].keys() == {f"2 × {H100}"}
    assert working_devices(run) == {f"2 × {H100}": 4}


def test_kinds_are_mixed_where_the_better_one_does_not_suffice(make_run: MakeRun, make_spec: MakeSpec) -> None:
    pool(a=(L40S, 3), b=(H100, 2))
    run = make_run(spec=make_spec(**AUTO))
    assert dispatch_waiting() == [run.pk]
    assert working_devices(run)[L40S] in (2, 3)
    plan = Attempt.objects.get(run=run).plan_revision
    assert plan is not None
    in_order = [(lane, device) for lane, device in devices_by_lane(run.pk, 1).items() if not lane.startswith("reward")]
    trainers = [position for position, (lane, _) in enumerate(in_order) if lane.startswith("trainer")]
    assert plan.plan["trainers"] == trainers, "the plan names the lanes that train by their place in the pool"


def test_lanes_of_which_nothing_is_known_are_not_taken_for_fast_ones(make_run: MakeRun, make_spec: MakeSpec) -> None:
    pool(a=(OTHER, 4), b=(L40S, 4))
    run = make_run(spec=make_spec(**AUTO))
    dispatch_waiting()
    assert working_devices(run) == {L40S: 4}


def test_a_card_without_a_profile_is_planned_by_its_own_figures(
    make_run: MakeRun, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, lanes of which the planner knew nothing counted as H100s."""
    pool(a=(OTHER, 4))
    asked: list[list[str]] = []

    def planned(asked_spec: RunSpec, *, devices: Any, history: Any) -> Any:
        asked.append(list(devices))
        return plan(asked_spec, devices=devices, history=history)

    monkeypatch.setattr("runs.planning.plan_cache.plan", planned)
    identity = GpuIdentity(uuid="GPU-a", index=0, vendor=Vendor.NVIDIA, model=OTHER, memory_bytes=85 * 10**9)
    Gpu.objects.update(identity=identity.model_dump(mode="json"))
    run = make_run(spec=make_spec(**AUTO))
    hypothetical_plan(run.sized_spec)
    figures = CardFigures(num_processors=108, bf16_flops=260e12, fp32_flops=19e12, memory_bandwidth=1500e9)
    measured = identity.model_copy(update={"figures": figures})
    Gpu.objects.update(identity=measured.model_dump(mode="json"))
    assert dispatch_waiting() == [run.pk]
    assert working_devices(run) == {OTHER: 4}
    assert [set(devices) for devices in asked] == [{card_name(85e9, None)}, {card_name(85e9, figures)}]


def refuse(accelerator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the planner find that the model does not fit this accelerator."""

    def planned(asked: RunSpec, *, devices: Any, history: Any) -> Any:
        if accelerator in devices:
            raise ValueError(f"`devices` must have memory for the model, got {accelerator}")
        return plan(asked, devices=devices, history=history)

    monkeypatch.setattr("runs.planning.plan_cache.plan", planned)


def test_a_kind_that_the_model_does_not_fit_is_left_out(
    make_run: MakeRun, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool(a=(L40S, 4), b=(H100, 4))
    refuse("h100", monkeypatch)
    run = make_run(spec=make_spec(**AUTO))
    dispatch_waiting()
    assert working_devices(run) == {L40S: 4}


def test_a_run_that_only_held_lanes_suit_waits_for_them(
    make_run: MakeRun, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool(a=(L40S, 4), b=(H100, 4))
    refuse("l40s", monkeypatch)
    first, second = make_run(spec=make_spec(**AUTO)), make_run(spec=make_spec(**AUTO))
    assert dispatch_waiting() == [first.pk]
    with pytest.raises(LanesUnsuitable, match="waits for other lanes"):
        start_attempt(second)
    assert dispatch_waiting() == []
    second.refresh_from_db()
    assert second.state == "queued"
    release(run_id=first.pk, attempt=1)
    assert dispatch_waiting() == [second.pk]


def test_a_gang_placed_by_its_user_is_alike_and_on_one_node(make_run: MakeRun, make_spec: MakeSpec) -> None:
    pool(a=(L40S, 3), b=(H100, 2), c=(H100, 1))
    run = make_run(spec=make_spec(**FIXED))
    dispatch_waiting()
    assert devices_of(run)["trainer"] == {H100: 2}
    assert {grant.node for grant in grants_of(run.pk, 1) if grant.role == "trainer"} == {"b"}
    assert devices_of(run)["rollout"] == {H100: 1, L40S: 1}


def test_lanes_that_another_takes_are_replaced_by_others_at_once(
    make_run: MakeRun, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pool(a=(H100, 9))
    run, begin, thieves = make_run(spec=make_spec(**FIXED)), dispatch.begin, [uuid.uuid4()]

    def begin_late(run_id: uuid.UUID, placement: Any, lanes: Any, num_overtaken: int) -> Attempt:
        while thieves:
            Lane.objects.filter(pk=lanes.trainers[0].key).update(
                run_id=thieves.pop(), attempt=1, role="rollout", name_in_run="rollout-0", held_since="2026-01-01T00:00Z"
            )
        return begin(run_id, placement, lanes, num_overtaken)

    monkeypatch.setattr("runs.queue.dispatch.begin", begin_late)
    assert dispatch_waiting() == [run.pk]
    assert free_lanes() == {"gpu": 4, "cpu": 1}
    assert working_devices(run) == {H100: 4}


def test_a_run_whose_lanes_are_taken_again_and_again_waits_for_the_next_round(
    make_run: MakeRun, make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool(a=(H100, 9))
    run, tries = make_run(spec=make_spec(**FIXED)), list[int]()

    def taken(*_: Any) -> Attempt:
        tries.append(1)
        raise LanesTaken("another was faster")

    monkeypatch.setattr("runs.queue.dispatch.begin", taken)
    with pytest.raises(LanesTaken, match=f"{dispatch.MAX_CHOICES} times"):
        start_attempt(run)
    assert len(tries) == dispatch.MAX_CHOICES


def test_a_preview_of_a_plan_looks_at_all_kinds_of_the_pool_too(make_spec: MakeSpec) -> None:
    pool(a=(L40S, 4), b=(H100, 4))
    allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec(num_rollout=2, num_trainer=2, num_reward=1))
    found = hypothetical_plan(make_spec(**AUTO))
    assert (found["devices"], found["fits_pool"]) == ([H100], True)
    larger = hypothetical_plan(make_spec(**{**AUTO, "lanes": {"num_rollout": 20, "num_trainer": 2, "num_reward": 1}}))
    assert larger["fits_pool"] is False


def test_a_preview_of_a_plan_prices_its_lanes_and_says_which_have_no_price(make_spec: MakeSpec) -> None:
    pool(a=(H100, 5))
    without = hypothetical_plan(make_spec(**AUTO))
    assert (without["price_per_hour"], without["num_unpriced_lanes"]) == (None, 4)
    assert without["card_bytes"][H100] > without["by_mode"][without["mode"]]["memory_bytes"].popitem()[1]
    Node.objects.update(price_per_gpu_hour=Decimal(2))
    Gpu.objects.filter(pk__in=[Gpu.objects.values_list("pk", flat=True)[0]]).update(price_per_gpu_hour=Decimal(7))
    scored = hypothetical_plan(make_spec(**{**AUTO, "lanes": LANES | {"rewards_on": "own_gpu"}}))
    assert (scored["price_per_hour"], scored["num_unpriced_lanes"]) == (5 * 3.0, 0), (
        "five lanes at the mean of the pool"
    )


def test_a_warning_is_about_the_lanes_that_the_run_would_get(make_spec: MakeSpec) -> None:
    large = {"base_model": {"path": "black-forest-labs/FLUX.1-dev", "family": "flux"}, **FIXED}
    pool(a=(L40S, 4))
    alone = warnings_of(make_spec(**large))
    pool(b=(H100, 4))
    assert Node.objects.count() == 2
    both = warnings_of(make_spec(**large))
    assert all("l40s" not in warning for warning in both)
    assert alone != both or not alone


def test_a_role_is_warned_of_by_the_lanes_that_it_would_get_alone(make_spec: MakeSpec) -> None:
    """Rollout lanes fit the smaller cards; trainer lanes, which do not, get the others."""
    flux = {"base_model": {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}, **FIXED}
    batch = {"num_prompts_per_batch": 2, "micro_batch_size": 4}
    spec = make_spec(
        **flux, batch=batch, deepspeed={"gradient_checkpointing": 0}, sampling={"height": 512, "width": 512}
    )
    pool(a=(L40S, 2))
    assert any(warning.startswith("A trainer lane") and "l40s has" in warning for warning in warnings_of(spec))
    pool(b=(H100, 2))
    check = memory_check(spec)
    assert warnings_of(spec) == [] and check.state is CheckState.FINE
    assert "of 48.3 GB (l40s)" in check.text and "of 85.5 GB (h100)" in check.text
