"""A driver's question and its answer: what the user's spec leaves open may change, and nothing else."""

from typing import Any

import pytest

from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.replanning import ReplanBasis
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.planning.cost_estimates import lane_costs
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.replanning.question import ReplanAnswer, ReplanQuestion, answer

ROLES = {f"l{index}": LaneRole.TRAINER if index == 0 else LaneRole.ROLLOUT for index in range(6)} | {
    "r0": LaneRole.REWARD
}


def asked(fragment_size: int | None, *, deterministic: bool, **batch: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(9)]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {
                "num_prompts_per_batch": 9,
                "group_size": 8,
                "micro_batch_size": 8,
                "fragment_size": fragment_size,
                **batch,
            },
            "pipeline": {"placement": "auto", "max_staleness": 1, "deterministic": deterministic},
            "lanes": {"num_rollout": 5, "num_trainer": 1, "num_reward": 1},
        }
    )


def cost(lane: str, kind: CostKind, per_unit: float, sizes: tuple[int, int] = (8, 8)) -> WorkCost:
    return WorkCost(lane=lane, kind=kind, per_call=0.0, per_unit=per_unit, observed_units=sizes, relative_error=0.01)


BELIEVED = tuple(
    cost("lane", kind, seconds, (1, 8))
    for kind, seconds in ((CostKind.GENERATE, 0.5), (CostKind.ACCUMULATE, 0.1), (CostKind.SCORE, 0.001))
)
"""What an earlier run has measured, with fragments of all sizes."""
MEASURED = (
    *(cost(lane, CostKind.GENERATE, 1.0) for lane, role in ROLES.items() if role is LaneRole.ROLLOUT),
    cost("l0", CostKind.ACCUMULATE, 0.1),
    cost("r0", CostKind.SCORE, 0.001),
)
"""What the run has measured itself: generation takes twice as long."""


def moving(seconds: float) -> tuple[WorkCost, ...]:
    """Measured costs by which replacing the trainer gang takes so many seconds."""
    kinds = (CostKind.CHECKPOINT, CostKind.START, CostKind.RESTORE)
    return tuple(
        WorkCost(lane=GANG, kind=kind, per_call=seconds / 3, per_unit=0.0, observed_units=(1, 1)) for kind in kinds
    )


def separate(spec: RunSpec, max_staleness: int = 0) -> PipelineSpec:
    return spec.pipeline.model_copy(
        update={"placement": Placement.DISAGGREGATED, "tag": TrainerAssist.OFF, "max_staleness": max_staleness}
    )


def answered(spec: RunSpec, **changes: Any) -> ReplanAnswer:
    """The answer for a run with one trainer lane of six and whole groups as fragments, of which some lanes generate one
    more than others; nothing is lent, as the gang could not."""
    fields: dict[str, Any] = {
        "basis": ReplanBasis(asked=spec, history=(BELIEVED,)),
        "roles": ROLES,
        "pipeline": separate(spec),
        "fragment_size": 8,
        "can_lend": False,
        "measured": (*MEASURED, *moving(1e6)),
        "batches_left": 100,
    }
    return answer(ReplanQuestion.model_validate(fields | changes))


def test_fragments_change_only_where_the_user_left_them_empty_and_the_run_is_not_deterministic() -> None:
    assert answered(asked(None, deterministic=False)).fragment_size < 8
    assert answered(asked(8, deterministic=False)).fragment_size == 8
    assert answered(asked(None, deterministic=True)).fragment_size == 8


def test_an_answer_says_what_changes_and_never_promises_more_than_the_bound() -> None:
    found = answered(asked(None, deterministic=False))
    assert found.is_change
    assert f"fragments of {found.fragment_size} instead of 8" in found.reason
    assert found.bound_seconds <= found.batch_seconds * (1 + 1e-9)
    assert found.batch_seconds < found.seconds_before


@pytest.mark.parametrize("max_staleness", [0, 1])
def test_staleness_stays_where_no_other_way_of_working_gains(max_staleness: int) -> None:
    spec = asked(None, deterministic=False)
    assert answered(spec, pipeline=separate(spec, max_staleness)).pipeline.max_staleness == max_staleness


TRAINING_IS_SLOW = (
    *(cost(lane, CostKind.GENERATE, 0.5) for lane, role in ROLES.items() if role is LaneRole.ROLLOUT),
    cost("l0", CostKind.ACCUMULATE, 0.6),
    cost("r0", CostKind.SCORE, 0.001),
)
"""To train all groups takes one lane 49 s, and to generate them takes five lanes 8 s."""


def with_slow_training(share_without_spread: float, **batch: Any) -> ReplanAnswer:
    """The answer for a run that has too few batches left for what a new gang takes, unless it gains 20 s a batch."""
    return answered(
        asked(8, deterministic=False, **batch),
        measured=(*TRAINING_IS_SLOW, *moving(100.0)),
        share_without_spread=share_without_spread,
        batches_left=10,
    )


def test_lanes_are_moved_to_training_only_for_groups_that_are_trained_on() -> None:
    trained, skipped = (with_slow_training(share, filter_groups=True) for share in (0.0, 0.7))
    assert trained.renews_gang
    assert trained.move_seconds == pytest.approx(100.0)
    assert not skipped.renews_gang, "two thirds of the groups are skipped, so a new gang gains too little"
    assert skipped.move_seconds == 0.0
    assert skipped.seconds_before < 0.5 * trained.seconds_before
    assert with_slow_training(0.7).renews_gang, "without a filter they are trained on"


def test_further_draws_for_groups_without_spread_are_counted_as_generated() -> None:
    """Of two lanes none can move, and the one that generates takes all of the time."""
    roles = {lane: ROLES[lane] for lane in ("l0", "l1", "r0")}
    spec = asked(8, deterministic=False, max_resamples=4)
    none, half = (
        answered(spec, roles=roles, share_without_spread=share, pipeline=separate(spec, 1)).seconds_before
        for share in (0.0, 0.5)
    )
    assert half == pytest.approx(none * (1 + 0.5 + 0.25 + 0.125 + 0.0625), rel=0.1)


def with_an_l40s(joined: dict[str, str]) -> ReplanAnswer:
    """The answer for a run on six H100, beside which an L40S has joined; each generates and trains as its profile
    says."""
    model = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}
    spec = RunSpec.model_validate(asked(8, deterministic=False).model_dump() | {"base_model": model})
    roles = ROLES | {"l6": LaneRole.ROLLOUT}
    devices = {lane: "h100" for lane, role in ROLES.items() if role is not LaneRole.REWARD}
    costs = {name: lane_costs(Workload.of(spec), accelerator(name)) for name in ("h100", "l40s")}
    generating = [(lane, device) for lane, device in (devices | {"l6": "l40s"}).items() if lane != "l0"]
    measured = (
        *(cost(lane, CostKind.GENERATE, costs[device].generate.seconds(8) / 8) for lane, device in generating),
        cost("l0", CostKind.ACCUMULATE, costs["h100"].accumulate.seconds(8) / 8),
    )
    basis = ReplanBasis(asked=spec, devices=devices)
    return answered(spec, basis=basis, roles=roles, joined=joined, measured=(*measured, *moving(1e6)))


def test_a_lane_of_another_kind_that_joins_is_compared_with_its_own_kind() -> None:
    assert with_an_l40s({"l6": "l40s"}).slow == {}
    for_an_h100 = with_an_l40s({"l6": "h100"}).slow
    assert for_an_h100.keys() == {"l6"}
    assert for_an_h100["l6"] > 2


def test_a_lane_that_joins_without_a_profile_is_never_called_slow() -> None:
    unknown = with_an_l40s({})
    assert unknown.slow == {}
    assert unknown.seconds_before == pytest.approx(with_an_l40s({"l6": "h100"}).seconds_before, rel=0.02)
