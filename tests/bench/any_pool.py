"""Pools of several kinds of lanes, from 8 lanes to 4,096: how good the plan is, and what planning takes.

    python -m tests.bench.any_pool

Lanes are synthetic: kinds with opposite talents, which no testbed has. A pool that is listed in another order must get
the same plan.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.scheduling.planning.synthetic_pools import ALIKE, FOUR_KINDS, OPPOSITE_TALENTS, pool, request_for
from worker.scheduling.planning.cost_estimates import LaneCosts
from worker.scheduling.planning.planner import make_plan

FOUR_KINDS_IN_ORDER = ((4.0, 1.0), (8.0, 2.0), (12.0, 3.5), (16.0, 5.0))
"""(seconds of a trajectory, seconds of a micro-batch): the better at one, the better at the other."""
FOUR_KINDS_MIXED = ((4.0, 2.0), (8.0, 5.0), (12.0, 1.0), (16.0, 3.0))
"""The same in no order."""


def _shuffled(lanes: tuple[LaneCosts, ...]) -> tuple[LaneCosts, ...]:
    listed = list(lanes)
    random.Random(1).shuffle(listed)
    return tuple(listed)


POOLS: dict[str, tuple[LaneCosts, ...]] = {
    "8 alike": pool(ALIKE, [8]),
    "13 alike": pool(ALIKE, [13]),
    "3 each of four kinds": pool(FOUR_KINDS, [3] * 4),
    "3 each of four kinds, shuffled": _shuffled(pool(FOUR_KINDS, [3] * 4)),
    "3 each of four kinds in order": pool(FOUR_KINDS_IN_ORDER, [3] * 4),
    "3 each of four kinds in no order": pool(FOUR_KINDS_MIXED, [3] * 4),
    "4 each of three opposite kinds": pool(OPPOSITE_TALENTS, [4] * 3),
    "256 of four kinds": pool(FOUR_KINDS, [64] * 4),
    "1,024 of three kinds": pool(OPPOSITE_TALENTS, [342, 341, 341]),
    "4,096 of four kinds": pool(FOUR_KINDS, [1024] * 4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The plan of one pool."""

    pool: str
    mode: str
    num_trainer: int
    batch_seconds: float
    bound_share: float
    is_simulated: bool
    """Whether `batch_seconds` is simulated; otherwise it is a limit."""
    planning_seconds: float
    """Seconds of one core."""

    def line(self) -> str:
        kind = "simulated" if self.is_simulated else "limit"
        return (
            f"{self.pool:33} {self.mode:13} {self.num_trainer:4d} train {self.batch_seconds:7.2f} s ({kind}), "
            f"{self.bound_share:6.1%} of the bound, planned in {self.planning_seconds:.2f} s"
        )


def rows() -> Iterator[Row]:
    """Plan each of the pools."""
    for name, lanes in POOLS.items():
        request = request_for(lanes)
        started = time.process_time()
        plan = make_plan(request)
        seconds = time.process_time() - started
        result = plan.best.split_result
        yield Row(
            pool=name,
            mode=next(mode for mode, choice in plan.by_mode.items() if choice is plan.best),
            num_trainer=len(result.candidate.trainers),
            batch_seconds=result.batch_seconds,
            bound_share=plan.bound_share(plan.best),
            is_simulated=result.result is not None,
            planning_seconds=round(seconds, 3),
        )


if __name__ == "__main__":
    for row in rows():
        print(row.line(), flush=True)
