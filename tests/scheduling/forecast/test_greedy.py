"""`tag: greedy` lends every idle trainer lane, but none that would end its fragment after all others."""

from typing import Literal

import pytest

from tests.scheduling.planning.synthetic_pools import pool, request_for
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import Cost, CostKind
from worker.scheduling.core.messages import LaneJoined, Switch
from worker.scheduling.planning.candidate_simulation import Candidate, simulate_candidate

ROLLOUT_SECONDS = 10.0
"""Of a fragment on the rollout lane."""
SEVEN_FRAGMENTS = Settings(
    algebra=algebra_of(groups_per_minibatch=7, fragments=(1, 2)), tag=TrainerAssist.GREEDY, version_of_batch_0=0
)


def is_lent(settings: Settings, seconds: dict[str, float], switch_seconds: float = 0.0) -> bool:
    """Whether the idle trainer lane `t` is lent when a rollout lane `g` has begun the first of seven fragments.

    `seconds`: of a fragment by lane, of those for which it is known.
    """
    size = settings.algebra.fragment_size
    prior = {(lane, CostKind.GENERATE): Cost(0.0, each / size) for lane, each in seconds.items()}
    scheduler = settings.scheduler(prior=prior | {("t", CostKind.LEND): Cost(switch_seconds)})
    for lane, role in (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD)):
        scheduler.apply(LaneJoined(lane, role, 0 if role is LaneRole.ROLLOUT else None), 0.0)
    return Switch("t", LaneRole.ROLLOUT) in scheduler.next_actions(0.0)


@pytest.mark.parametrize("seconds", [1.0, ROLLOUT_SECONDS, 69.0])
def test_a_lane_that_ends_a_fragment_before_the_others_end_all_is_lent(seconds: float) -> None:
    assert is_lent(SEVEN_FRAGMENTS, {"t": seconds, "g": ROLLOUT_SECONDS})


@pytest.mark.parametrize("seconds", [71.0, 1000.0])
def test_a_lane_that_all_would_wait_for_stays(seconds: float) -> None:
    assert not is_lent(SEVEN_FRAGMENTS, {"t": seconds, "g": ROLLOUT_SECONDS})


def test_the_switch_counts() -> None:
    assert not is_lent(SEVEN_FRAGMENTS, {"t": ROLLOUT_SECONDS, "g": ROLLOUT_SECONDS}, switch_seconds=61.0)


@pytest.mark.parametrize("known", [{}, {"t": 1000.0}, {"g": ROLLOUT_SECONDS}])
def test_a_lane_is_lent_while_costs_are_not_known(known: dict[str, float]) -> None:
    assert is_lent(SEVEN_FRAGMENTS, known)


@pytest.mark.parametrize("max_staleness", [0, 1])
@pytest.mark.parametrize("fragment_size", [1, 2, 4, 8])
def test_a_trainer_lane_that_is_twenty_times_slower_costs_no_more_than_without_lending(
    fragment_size: int, max_staleness: Literal[0, 1]
) -> None:
    request = request_for(pool(((200.0, 60.0), (10.0, 3.0)), (1, 12)))

    def seconds(tag: TrainerAssist) -> float:
        pipeline = PipelineSpec(tag=tag, max_staleness=max_staleness)
        candidate = Candidate(pipeline=pipeline, trainers=(0, 1, 2, 3, 4, 5), fragment_size=fragment_size)
        result = simulate_candidate(
            request.work, request.costs, candidate, advantage_std="group", num_batches=12, with_shares=False
        )
        return result.batch_seconds

    assert seconds(TrainerAssist.GREEDY) <= 1.05 * seconds(TrainerAssist.OFF)
