"""A climb: from some splits of one fragment size to ever faster neighbours, by simulation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.mode_limits import Split
from worker.scheduling.planning.split_neighbours import Neighbours
from worker.scheduling.planning.split_simulations import SplitSimulations


@dataclass(frozen=True, slots=True)
class Goal:
    """When a search ends."""

    seconds: float
    """The seconds of a batch that are short enough."""
    spent: float
    """The number of simulated fragments that are enough."""

    def is_reached(self, seconds: float, spent: int) -> bool:
        return seconds <= self.seconds or spent >= self.spent


def climb(
    simulations: SplitSimulations,
    starts: Sequence[Split],
    settings: PipelineSpec,
    limits: Mapping[Split, float],
    goal: Goal,
) -> None:
    """From the fastest of `starts`, move to a neighbour for as long as that shortens the batch, then halve the step;
    end where the goal is reached. What it meets stays in `simulations`.

    Args:
        limits: of the splits that it may move to, of which all have as many lanes.
    """
    seconds_of = partial(simulations.seconds, settings=settings)

    def is_done() -> bool:
        return goal.is_reached(seconds_of(split), simulations.spent)

    split = starts[0]
    for start in starts[1:]:
        if not is_done() and limits[start] < seconds_of(split) > seconds_of(start):
            split = start
    neighbours = Neighbours(limits, split.fragment_size)
    step = max(1, simulations.num_lanes // 16)
    while step and not is_done():
        seconds = seconds_of(split)
        may_be_faster = [other for other in neighbours.of(split, step) if limits[other] < seconds]
        best = min([split, *may_be_faster], key=seconds_of)
        if best == split:
            step //= 2
        split = best
