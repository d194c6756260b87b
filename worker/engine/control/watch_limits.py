"""How long a lane may stand still in a call of a kind that was never measured.

```text
cost of the lane by the plan ─┐
of any lane, of the gang      ┴─► × PLANNED_CALLS, at least LEAST_FIRST_SECONDS (and what compiling takes)
loading, checkpoints, exports ──► what they move, at the slowest rate (`unplanned_limits`)
a run without a plan          ──► FIRST_LIMIT_SECONDS
```
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import LaneWork
from worker.contracts.performance import Compilation
from worker.engine.control.cluster_lanes import PLACEMENT_TIMEOUT_SECONDS
from worker.engine.control.unplanned_limits import checkpoint_limit, loading_limit
from worker.scheduling.core.costs import CostKind, CostTable, parse_costs
from worker.scheduling.planning.workload import Workload

LEAST_LIMIT_SECONDS = 120.0
"""The least limit of slow work: checkpoints on a busy disk and loading text encoders for a request take that long."""
FIRST_LIMIT_SECONDS = 1800.0
"""The limit of work that was neither measured nor planned: a run without a plan may take its first optimizer step over
hundreds of gigabytes."""
PLANNED_CALLS = 30.0
"""The limit of work that was planned and not measured, as a multiple of its planned call. The ranges of the profiles'
estimates span a factor of three (`worker.scheduling.profiles.hardware`), and a measured call has a limit of ten."""
LEAST_FIRST_SECONDS = 300.0
"""The least such limit. A first call loads libraries' kernels, forms communicators and pins host memory: 100 GB at 1
GB/s, which is an estimate."""
COMPILING_SECONDS = 900.0
"""What is added to it where blocks are compiled: some minutes, three times that where the cores are shared."""
_COMPILES = frozenset({LaneWork.GENERATE, LaneWork.ACCUMULATE})
_KINDS: Mapping[LaneWork, tuple[CostKind, ...]] = {
    LaneWork.SWITCH: (CostKind.LEND, CostKind.RECLAIM),
    LaneWork.PULL: (CostKind.PULL,),
    LaneWork.GENERATE: (CostKind.GENERATE,),
    LaneWork.ACCUMULATE: (CostKind.ACCUMULATE,),
    LaneWork.COMMIT: (CostKind.COMMIT,),
    LaneWork.SNAPSHOT: (CostKind.SNAPSHOT,),
    LaneWork.BROADCAST: (CostKind.PUBLISH,),
    LaneWork.PUBLISH: (CostKind.PUBLISH,),
}
"""What a plan says of the work. Checkpoints and loading are not planned, and scoring has time-outs of its own."""
_STORING = (LaneWork.CHECKPOINT, LaneWork.RESTORE, LaneWork.EXPORT)


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """The limits of one run."""

    least: Mapping[LaneWork, float]
    """Seconds by kind of work, of those that have a limit of their own, whatever was measured."""
    first: Mapping[LaneWork, float]
    """Seconds by kind of work, of what no plan has a cost of."""
    planned: CostTable
    fragment_size: int
    compiles: bool
    """Whether blocks are compiled."""

    @classmethod
    def of(cls, answer: BootstrapAnswer) -> "WatchLimits":
        spec, work = answer.spec, Workload.of(answer.spec)
        from_hub = not Path(answer.base_model_path).is_dir()
        # What scoring a fragment may take with all time-outs and retries of its scorers.
        scoring = sum(reward.max_seconds for reward in spec.rewards)
        return cls(
            least={
                LaneWork.START: PLACEMENT_TIMEOUT_SECONDS,
                # A lane that loads anew may find its node's cache empty.
                LaneWork.LOAD: loading_limit(work, from_hub=from_hub),
                LaneWork.SCORE: scoring + LEAST_LIMIT_SECONDS,
            },
            first=dict.fromkeys(_STORING, checkpoint_limit(work)),
            planned=parse_costs(answer.prior_costs),
            fragment_size=spec.algebra.fragment_size,
            compiles=spec.kernels.compilation is not Compilation.OFF,
        )

    def least_of(self, work: LaneWork) -> float:
        """The least limit, whatever was measured."""
        return self.least.get(work, LEAST_LIMIT_SECONDS)

    def first_of(self, lane: str, work: LaneWork) -> float:
        """The limit of work that was never measured."""
        if work is LaneWork.START:
            return PLACEMENT_TIMEOUT_SECONDS
        planned = self.planned_seconds(lane, work)
        if planned is None:
            return self.first.get(work, FIRST_LIMIT_SECONDS)
        compiling = COMPILING_SECONDS if self.compiles and work in _COMPILES else 0.0
        return max(LEAST_FIRST_SECONDS, PLANNED_CALLS * planned) + compiling

    def planned_seconds(self, lane: str, work: LaneWork) -> float | None:
        """What the plan says of a call: of a fragment, of one micro-batch, since a step is progress. Of this lane, else
        the longest of any: a lane that has joined since, or the gang. `None` where it says nothing."""
        kinds = _KINDS.get(work, ())
        own = [self.planned[lane, kind] for kind in kinds if (lane, kind) in self.planned]
        known = own or [cost for (_, kind), cost in self.planned.items() if kind in kinds]
        num_units = self.fragment_size if work is LaneWork.GENERATE else 1
        return max((cost.seconds(num_units) for cost in known), default=None)
