"""Which lanes versions are broadcast to, and when they go through the object store alone.

```text
gang loaded ─► endpoints ─► plan: trainer ranks, rollout lanes that are ready ─► serves version after version
                             ▲ another set of lanes, a lost lane, a failure │
                             └───────── the next version has a new plan ◄───┘   MAX_FAILURES in succession: no more
```

Invariant: a version is in the object store whatever becomes of its broadcast, so nothing here can fail a run.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from worker.contracts.names import LaneRole, Publishing
from worker.contracts.run_spec import RunSpec
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan, DoneBroadcast
from worker.engine.types import PullReceipt

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""The most broadcasts in succession that fail before a gang gives them up: the third has a cause that new groups do not
remove, such as a network that lets no connection through, and each holds up its version for seconds."""


class Broadcasts:
    """Makes plans, and counts what fails. Without endpoints there is no plan."""

    def __init__(self, spec: RunSpec, lanes: ClusterLanes, *, ready: Callable[[], Collection[str]]) -> None:
        """`ready` gives the lanes that are loaded and not lost."""
        self.are_wanted = spec.pipeline.publishing is Publishing.DIRECT
        """Whether the run broadcasts its versions."""
        self._lanes = lanes
        self._ready = ready
        self._ranks: tuple[str, ...] = ()
        self._sources: tuple[BroadcastEndpoint, ...] = ()
        self._number = 0
        self._plan: BroadcastPlan | None = None
        self._num_failures = 0
        """Broadcasts in succession that have failed."""
        self._num_missed = 0
        """Pulls from the object store by lanes that a broadcast was for, since the driver began."""

    def open(self, endpoints: Mapping[str, BroadcastEndpoint | None]) -> None:
        """Work with a gang that has loaded: by lane of each rank that publishes, in rank order, where lanes find it;
        `None` from ranks that cannot broadcast."""
        found = {lane: endpoint for lane, endpoint in endpoints.items() if endpoint is not None}
        self._ranks, self._sources = tuple(found), tuple(found.values())
        self._plan, self._num_failures = None, 0

    def close(self) -> None:
        """The gang is gone."""
        self.open({})

    def plan(self) -> BroadcastPlan | None:
        """The plan for the next version; `None` where it goes through the object store alone."""
        lanes = tuple(sorted(set(self._lanes.names(LaneRole.ROLLOUT)).intersection(self._ready())))
        if not self._sources or not lanes or self._num_failures >= MAX_FAILURES:
            return None
        if self._plan is None or self._plan.lanes != lanes:
            self._number += 1
            self._plan = BroadcastPlan(number=self._number, sources=self._sources, lanes=lanes)
            logger.info("versions are broadcast from %s to %s", ", ".join(self._ranks), ", ".join(lanes))
        return self._plan

    def ended(self, plan: BroadcastPlan, policy_version: int, failures: Sequence[str]) -> DoneBroadcast | None:
        """The broadcast of a version has ended at its sources, with what has failed there; `None` where it failed."""
        if not failures:
            self._num_failures = 0
            return DoneBroadcast(number=plan.number, lanes=plan.lanes)
        self._num_failures += 1
        rest = ", and so do all others" if self._num_failures == MAX_FAILURES else ""
        logger.warning(
            "version %d goes through the object store%s, its broadcast has failed (%d in succession): %s",
            policy_version,
            rest,
            self._num_failures,
            failures[0],
        )
        self._stop(plan, failures[0])
        return None

    def pulled(self, lane: str, receipt: PullReceipt) -> None:
        """A lane has bound a version. Where a broadcast missed it, the next version has new groups."""
        if not receipt.missed:
            return
        self._num_missed += 1
        logger.warning(
            "lane %s took version %d from the object store, its broadcast has missed it (%d such pulls): %s",
            lane,
            receipt.policy_version,
            self._num_missed,
            receipt.missed,
        )
        self._plan = None

    def lost(self, lane: str, reason: str) -> None:
        """A lane's process has died: nobody is to wait for it."""
        if self._plan is not None and lane in (*self._plan.lanes, *self._ranks):
            self._stop(self._plan, f"lane `{lane}` was lost: {reason.partition(chr(10))[0]}", without=lane)

    def _stop(self, plan: BroadcastPlan, reason: str, *, without: str = "") -> None:
        """End a plan at all its members."""
        if self._plan is plan:
            self._plan = None
        working = {*self._lanes.names()} - {without}
        for lane in (*self._ranks, *plan.lanes):
            if lane in working:
                # Nothing waits for the answer, and a member that has died has nothing to stop.
                self._lanes[lane].actor.stop_broadcasts.remote(plan.number, reason)
