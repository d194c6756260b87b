"""Which lending policy a run has, by its switches."""

from collections.abc import Callable
from typing import assert_never

from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.pipeline.lending import Colocated, Greedy, LendingPolicy
from worker.pipeline.outlook import Lookout
from worker.pipeline.search import Search


def policy_of(pipeline: PipelineSpec, lookout: Callable[[], Lookout]) -> LendingPolicy | None:
    """`lookout` is asked for only where something is predicted."""
    if pipeline.placement is Placement.COLOCATED:
        return Colocated()
    match pipeline.tag:
        case TrainerAssist.OFF:
            return None
        case TrainerAssist.GREEDY:
            return Greedy()
        case TrainerAssist.SEARCH:
            return Search(lookout())
        case _:
            assert_never(pipeline.tag)
