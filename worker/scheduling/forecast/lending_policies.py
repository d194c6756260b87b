"""The lending policies, by the switches of a run: none, greedy, by search, and colocated placement's own."""

from collections.abc import Sequence
from typing import assert_never

from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import UNLIMITED, Allowance, LendingPolicy
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.search import Search


class Greedy:
    """`tag: greedy`: a fragment for every idle lane, as long as there are any."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        return Allowance(num_fragments=1)


class Colocated:
    """Every lane generates until no fragment waits."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        return Allowance(num_fragments=UNLIMITED)


def lending_policy(pipeline: PipelineSpec) -> LendingPolicy | None:
    """The policy that a run's switches ask for, its placement resolved; `None`: trainer lanes only train."""
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
