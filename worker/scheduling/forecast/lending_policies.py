"""The lending policy for a run's switches: none, greedy, by search, or the fixed one of colocated placement.

Invariant: a policy decides from the scheduler's state alone, so the same run is decided the same way by every executor.
"""

from collections.abc import Sequence
from typing import assert_never

from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import UNLIMITED, Allowance, LendingPolicy
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.greedy import Greedy
from worker.scheduling.forecast.search import Search


class Colocated:
    """Colocated placement: every lane generates until no fragment waits, or it trains early (`early_training`)."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        return Allowance(num_fragments=UNLIMITED)


def lending_policy(pipeline: PipelineSpec) -> LendingPolicy | None:
    """The policy for a run's switches, whose placement must be resolved; `None` where trainer lanes only train."""
    if pipeline.placement is Placement.COLOCATED:
        return Colocated()
    match pipeline.tag:
        case TrainerAssist.OFF:
            return None
        case TrainerAssist.GREEDY:
            return Greedy()
        case TrainerAssist.SEARCH:
            return Search()
        case _:
            assert_never(pipeline.tag)


def search_size(policy: LendingPolicy | None) -> int:
    """The total size of the forecasts that a policy has made so far, as `Search` counts it; 0 for any other policy."""
    return policy.total_size if isinstance(policy, Search) else 0
