"""What runs wait for, in a sentence each: the pool and the queue are read once for all of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from fleet.lane_demand import fits, kinds_wanted
from fleet.models import LaneKind
from fleet.out_of_service import lanes_out_of_service, why_out_of_service
from fleet.selectors import free_lanes, pool_lanes
from fleet.shares import scarce_kind, shares
from runs.models import Run
from runs.run_queue import WAITING_STATES, current_queue
from worker.contracts.lanes import LaneSpec

Lanes = Mapping[LaneKind, int]


def why_waiting(runs: Iterable[Run]) -> dict[UUID, str]:
    """What each of these runs waits for; runs that do not wait are left out."""
    waiting = [run for run in runs if run.run_state in WAITING_STATES]
    if not waiting:
        return {}
    queue, pool = current_queue(), Pool()
    said = {run.pk: _at_its_limit(run) for run in queue.stopped}
    said |= {run.pk: pool.needs(run.asked_lanes, num_ahead) for num_ahead, run in enumerate(queue.in_turn)}
    return {run.pk: said[run.pk] for run in waiting if run.pk in said}


def lacking(wanted: LaneSpec) -> str:
    """The lanes wanted and those of the pool, as a clause, if the pool is too small now; else empty. Where it would not
    be if all its lanes took work, the clause says what stops them."""
    return Pool().lacking(wanted)


def _at_its_limit(run: Run) -> str:
    limit = shares()[run.project_id].limit
    lanes = f"{limit} {scarce_kind().upper()} lane{'s' * (limit != 1)}"
    return f"the project may hold {lanes}, and does, or would with this run: it waits for its other runs"


@dataclass
class Pool:
    """The pool's lanes by kind, read when they are first asked for."""

    @cached_property
    def in_service(self) -> Lanes:
        return pool_lanes()

    @cached_property
    def free(self) -> Lanes:
        return free_lanes()

    @cached_property
    def out_of_service(self) -> Lanes:
        return lanes_out_of_service()

    @cached_property
    def why_out_of_service(self) -> str:
        return why_out_of_service() if self.out_of_service else ""

    def needs(self, wanted: LaneSpec, num_ahead: int) -> str:
        if shortage := self.lacking(wanted):
            return f"{shortage}: it {'waits for these' if self._would_fit(wanted) else 'cannot start'}"
        ahead = f"{num_ahead} run{'s' * (num_ahead > 1)} ahead; " if num_ahead else ""
        needed = _in_words(kinds_wanted(wanted, self.in_service))
        stopped = f"; {self.why_out_of_service}" if self.why_out_of_service else ""
        return f"{ahead}needs {needed}, free now: {_in_words(self.free)}{stopped}"

    def lacking(self, wanted: LaneSpec) -> str:
        if fits(wanted, self.in_service, self.in_service):
            return ""
        needed = _in_words(kinds_wanted(wanted, self.in_service))
        short = f"needs {needed}, the pool has {_in_words(self.in_service)}"
        return f"{short} in service; {self.why_out_of_service}" if self._would_fit(wanted) else short

    def _would_fit(self, wanted: LaneSpec) -> bool:
        """Whether the pool is large enough with all its lanes in service."""
        whole = Counter(self.in_service) + Counter(self.out_of_service)
        return fits(wanted, whole, whole)


def _in_words(lanes: Lanes) -> str:
    return " and ".join(f"{count} {kind.upper()} lane{'s' * (count != 1)}" for kind, count in lanes.items()) or "none"
