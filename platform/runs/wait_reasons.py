"""What runs wait for, in a sentence each: each pool and its queue are read once for all of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from fleet.fair_share import Share
from fleet.lane_demand import fits, kinds_wanted
from fleet.models import LaneKind
from fleet.out_of_service import lanes_out_of_service, why_out_of_service
from fleet.selectors import all_lanes, free_lanes, pool_lanes
from fleet.shares.shares import scarce_kind, shares
from fleet.shares.spending import budgets_in_words
from runs.models import Run
from runs.run_queue import WAITING_STATES, Queue, current_queue
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec

Lanes = Mapping[LaneKind, int]


def why_waiting(runs: Iterable[Run]) -> dict[UUID, str]:
    """What each of these runs waits for; runs that do not wait are left out."""
    return why_waiting_in({run.pk: run.pool for run in runs if run.run_state in WAITING_STATES})


def why_waiting_in(pools: Mapping[UUID, str]) -> dict[UUID, str]:
    """The same of runs that are in one of `WAITING_STATES`, by their id with the name of their pool."""
    said: dict[UUID, str] = {}
    for name in set(pools.values()):
        said |= sentences(current_queue(name), LanesOfPool(name))
    return {run_id: said[run_id] for run_id in pools if run_id in said}


def sentences(queue: Queue, pool: "LanesOfPool") -> dict[UUID, str]:
    """What each run of the pool's queue waits for."""
    said = {run.pk: pool.needs(run.asked_lanes, num_ahead) for num_ahead, run in enumerate(queue.in_turn)}
    if queue.stopped:
        known, kind, lanes = shares(pool.name), scarce_kind(pool.name), all_lanes(pool.name)
        spent = budgets_in_words(queue.spent)
        for run in queue.stopped:
            if run.project_id in spent:
                said[run.pk] = f"{spent[run.project_id]}: the run waits for a new one"
                continue
            number = kinds_wanted(run.asked_lanes, lanes).get(kind, 0)
            said[run.pk] = _at_its_limit(pool.name, known.get(run.project_id, Share()).limit or 0, kind, number)
    return said


def lacking(wanted: LaneSpec) -> str:
    """The lanes wanted and those of the pool, as a clause, if the pool is too small now; else empty. Where it would not
    be if all its lanes took work, the clause says what stops them."""
    return LanesOfPool(wanted.pool).lacking(wanted)


def _at_its_limit(pool: str, limit: int, kind: LaneKind, number: int) -> str:
    of_pool = "" if pool == DEFAULT_POOL else f" of {_named(pool)}"
    may = f"the project may hold {_in_words({kind: limit})}{of_pool}"
    if number > limit:
        return f"{may}, and the run needs {number}: it cannot start"
    return f"{may}, and does, or would with this run: it waits for its other runs"


def _named(pool: str) -> str:
    return "the pool" if pool == DEFAULT_POOL else f"the pool {pool}"


@dataclass
class LanesOfPool:
    """A pool's lanes by kind, read when they are first asked for."""

    name: str

    @cached_property
    def in_service(self) -> Lanes:
        return pool_lanes(self.name)

    @cached_property
    def free(self) -> Lanes:
        return free_lanes(self.name)

    @cached_property
    def out_of_service(self) -> Lanes:
        return lanes_out_of_service(self.name)

    @cached_property
    def why_out_of_service(self) -> str:
        return why_out_of_service(self.name) if self.out_of_service else ""

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
        short = f"needs {needed}, {_named(self.name)} has {_in_words(self.in_service)}"
        return f"{short} in service; {self.why_out_of_service}" if self._would_fit(wanted) else short

    def _would_fit(self, wanted: LaneSpec) -> bool:
        """Whether the pool is large enough with all its lanes in service."""
        whole = Counter(self.in_service) + Counter(self.out_of_service)
        return fits(wanted, whole, whole)


def _in_words(lanes: Lanes) -> str:
    return " and ".join(f"{count} {kind.upper()} lane{'s' * (count != 1)}" for kind, count in lanes.items()) or "none"
