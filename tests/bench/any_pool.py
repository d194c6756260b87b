"""Pools of several kinds of lanes, from 8 lanes to 4,096: how good the plan is, and what planning takes.

    python -m tests.bench.any_pool

Most lanes are synthetic: kinds with opposite talents, which no testbed has, and stragglers. A pool that is listed in
another order must get the same plan. Each pool is planned twice: with ranks that share micro-batches by speed (ZeRO 0
and 1), and with ranks in step (ZeRO 2 and 3), at the same costs. Last come plans that a straggler surprises.
"""

import math
import random
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tests.bench.pipeline_inputs import SCORER, WORK
from tests.scheduling.planning.synthetic_pools import ALIKE, FOUR_KINDS, OPPOSITE_TALENTS, lane, pool, request_for
from worker.scheduling.planning.bounds import bound_seconds
from worker.scheduling.planning.candidate_simulation import simulate_candidate
from worker.scheduling.planning.cost_estimates import LaneCosts, pool_costs
from worker.scheduling.planning.planner import Plan, PlanRequest, make_plan
from worker.scheduling.profiles.hardware import H20, H100, L40S

FOUR_KINDS_IN_ORDER = ((4.0, 1.0), (8.0, 2.0), (12.0, 3.5), (16.0, 5.0))
"""(seconds of a trajectory, seconds of a micro-batch): the better at one, the better at the other."""
FOUR_KINDS_MIXED = ((4.0, 2.0), (8.0, 5.0), (12.0, 1.0), (16.0, 3.0))
"""The same in no order."""
ALIKE_AND_SLOW = (*ALIKE, (20.0, 6.0))
"""The same of a kind, and of its stragglers, which are half as fast at both."""
SPREAD = tuple((10.0 * factor, 3.0 * factor) for factor in (0.8, 0.9, 1.0, 1.1, 1.25, 1.4))
"""The same of lanes of one kind that differ as shared or hot machines do."""


def _shuffled(lanes: tuple[LaneCosts, ...]) -> tuple[LaneCosts, ...]:
    listed = list(lanes)
    random.Random(1).shuffle(listed)
    return tuple(listed)


def _flux_on_three_kinds() -> PlanRequest:
    """FLUX.1-12B on 3 H100, 5 L40S and 4 H20, with costs from their profiles."""
    work, devices = WORK["flux.1-12b"], (H100,) * 3 + (L40S,) * 5 + (H20,) * 4
    costs = pool_costs(work, devices, num_reward=3, scorer=SCORER)
    return PlanRequest(work=work, devices=devices, costs=costs, fragment_sizes=(1, 2, 4), size_is_known=True)


REQUESTS: dict[str, PlanRequest] = {
    name: request_for(lanes)
    for name, lanes in {
        "8 alike": pool(ALIKE, [8]),
        "13 alike": pool(ALIKE, [13]),
        "1 of 7 slow": pool(ALIKE_AND_SLOW, [6, 1]),
        "1 of 13 slow": pool(ALIKE_AND_SLOW, [12, 1]),
        "2 of 13 slow": pool(ALIKE_AND_SLOW, [11, 2]),
        "2 each of six speeds": pool(SPREAD, [2] * 6),
        "3 each of four kinds": pool(FOUR_KINDS, [3] * 4),
        "3 each of four kinds, shuffled": _shuffled(pool(FOUR_KINDS, [3] * 4)),
        "3 each of four kinds in order": pool(FOUR_KINDS_IN_ORDER, [3] * 4),
        "3 each of four kinds in no order": pool(FOUR_KINDS_MIXED, [3] * 4),
        "4 each of three opposite kinds": pool(OPPOSITE_TALENTS, [4] * 3),
        "256 of four kinds": pool(FOUR_KINDS, [64] * 4),
        "1,024 of three kinds": pool(OPPOSITE_TALENTS, [342, 341, 341]),
        "4,096 of four kinds": pool(FOUR_KINDS, [1024] * 4),
    }.items()
} | {"FLUX on 3 H100, 5 L40S, 4 H20": _flux_on_three_kinds()}


ALLOWED_SECONDS = {"8 alike": 0.3, "4,096 of four kinds": 2.0}
"""Seconds of an idle core that a plan may take, since users wait for it."""
NUM_TIMED = 3
"""Plans that are timed there, of which the quickest counts: what a virtual machine's core does in a second varies by
half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The plan of one pool."""

    pool: str
    ranks: str
    mode: str
    num_trainer: int
    batch_seconds: float
    bound_share: float
    strict_share: float | None
    """The share of the bound that the fastest simulated mode at staleness 0 reaches."""
    is_simulated: bool
    """Whether `batch_seconds` is simulated; otherwise it is an estimate."""
    planning_seconds: float
    """Seconds of one core."""

    def line(self) -> str:
        kind = "simulated" if self.is_simulated else "estimate"
        strict = "" if self.strict_share is None else f", {self.strict_share:6.1%} at staleness 0"
        return (
            f"{self.pool:33} {self.ranks:8} {self.mode:13} {self.num_trainer:4d} train {self.batch_seconds:7.2f} s "
            f"({kind}), {self.bound_share:6.1%} of the bound{strict}, planned in {self.planning_seconds:.2f} s"
        )


def rows(name: str) -> list[Row]:
    """Plan one of the pools in both ways."""
    request, found = REQUESTS[name], []
    for ranks, equal_counts in (("by speed", False), ("in step", True)):
        times: list[float] = []
        for _ in range(NUM_TIMED if name in ALLOWED_SECONDS else 1):
            started = time.process_time()
            plan = make_plan(replace(request, costs=replace(request.costs, equal_counts=equal_counts)))
            times.append(time.process_time() - started)
        found.append(_row(name, ranks, plan, min(times)))
    return found


def broken(found: Iterable[Row]) -> list[str]:
    """What plans took longer than they may, in words."""
    return [
        f"`planning_seconds` of {row.pool} must be ≤ {ALLOWED_SECONDS[row.pool]} of an idle core, "
        f"got {row.planning_seconds} ({row.ranks})"
        for row in found
        if row.planning_seconds > ALLOWED_SECONDS.get(row.pool, math.inf)
    ]


def _row(name: str, ranks: str, plan: Plan, seconds: float) -> Row:
    result = plan.best.split_result
    strict = [
        choice
        for choice in plan.by_mode.values()
        if not choice.split_result.candidate.pipeline.max_staleness and choice.split_result.result is not None
    ]
    return Row(
        pool=name,
        ranks=ranks,
        mode=next(mode for mode, choice in plan.by_mode.items() if choice is plan.best),
        num_trainer=len(result.candidate.trainers),
        batch_seconds=result.batch_seconds,
        bound_share=plan.bound_share(plan.best),
        strict_share=max((plan.bound_share(choice) for choice in strict), default=None),
        is_simulated=result.result is not None,
        planning_seconds=round(seconds, 3),
    )


def surprises() -> Iterator[str]:
    """Lines on plans for lanes alike, of whose gang one or two lanes are half as fast as planned."""
    for number, num_slow in ((13, 1), (13, 2), (8, 1)):
        for max_staleness in (0, 1):
            shares = [_surprised_share(number, num_slow, max_staleness, equal_counts) for equal_counts in (False, True)]
            yield (
                f"{num_slow} of {number} slow, in the gang, unknown to the plan, staleness {max_staleness}: "
                f"{shares[0]:6.1%} of the bound by speed, {shares[1]:6.1%} in step"
            )


def _surprised_share(number: int, num_slow: int, max_staleness: int, equal_counts: bool) -> float:
    planned = request_for(pool(ALIKE, [number]))
    candidate = make_plan(planned).by_mode["stale" if max_staleness else "tsp"].split_result.candidate
    lanes = list(planned.costs.lanes)
    for index in candidate.trainers[:num_slow]:
        lanes[index] = lane(20.0, 6.0)
    costs = replace(planned.costs, lanes=tuple(lanes), equal_counts=equal_counts)
    result = simulate_candidate(planned.work, costs, candidate, advantage_std="group", num_batches=6)
    algebra = planned.work.with_fragment_size(1).algebra
    return bound_seconds(algebra, costs, max_staleness=max_staleness) / result.batch_seconds


if __name__ == "__main__":
    planned: list[Row] = []
    for pool_name in REQUESTS:
        planned += rows(pool_name)
        print(*(row.line() for row in planned[-2:]), sep="\n", flush=True)
    for text in surprises():
        print(text, flush=True)
    sys.exit("\n".join(broken(planned)) or 0)
