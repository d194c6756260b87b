"""Which lanes versions are broadcast to, and when they go through the object store alone.

```text
gang loaded ─► endpoints ─► plan: trainer ranks, rollout lanes that are ready ─► serves version after version
                             ▲ another set of lanes, a lost lane, a failure │
                             └───────── the next version has a new plan ◄───┘   MAX_FAILURES in succession: no more

a lane that fails in MAX_LANE_FAILURES in succession ─► NUM_VERSIONS_ASIDE versions without it ─► one more attempt ─► …
```

Invariant: a version is in the object store whatever becomes of its broadcast, so nothing here can fail a run.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from worker.contracts.names import LaneRole
from worker.engine.actors.reports import BroadcastReport
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan, DoneBroadcast
from worker.engine.types import PullReceipt

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""The most broadcasts in succession that fail before a gang gives them up: the third has a cause that new groups do not
remove, such as a network that lets no connection through, and each holds up its version for seconds."""
MAX_LANE_FAILURES = 2
"""The most broadcasts in succession that one lane fails to take part in before versions are broadcast without it: for
the first it may have lacked what a fragment held at that moment, for the second it lacks what it does not have."""
NUM_VERSIONS_ASIDE = 8
"""For how many versions a lane is then left out. An attempt that fails sends its version to all lanes through the
object store, so a lane that never has the memory costs one broadcast in nine."""


class Broadcasts:
    """Makes plans, and counts what fails. Without endpoints there is no plan."""

    def __init__(self, lanes: ClusterLanes, *, ready: Callable[[], Collection[str]]) -> None:
        """`ready` gives the lanes that are loaded and not lost."""
        self._lanes = lanes
        self._ready = ready
        self._ranks: tuple[str, ...] = ()
        self._sources: tuple[BroadcastEndpoint, ...] = ()
        self._number = 0
        self._plan: BroadcastPlan | None = None
        self._num_failures = 0
        """Broadcasts in succession that have failed, and for which no lane is to blame."""
        self._failures_of: defaultdict[str, int] = defaultdict(int)
        """By lane, broadcasts in succession that it has not taken part in."""
        self._back_at: dict[str, int] = {}
        """By lane that is left out, the version that it is tried with again."""
        self._num_missed = 0
        """Pulls from the object store by lanes that a broadcast was for, since the driver began."""

    def open(self, endpoints: Mapping[str, BroadcastEndpoint | None]) -> None:
        """Work with a gang that has loaded: by lane of each rank that publishes, in rank order, where lanes find it;
        `None` from ranks that cannot broadcast."""
        found = {lane: endpoint for lane, endpoint in endpoints.items() if endpoint is not None}
        self._ranks, self._sources = tuple(found), tuple(found.values())
        self._plan, self._num_failures = None, 0
        self._failures_of.clear()
        self._back_at.clear()

    def close(self) -> None:
        """The gang is gone."""
        self.open({})

    def plan(self, policy_version: int) -> BroadcastPlan | None:
        """The plan for the next version; `None` where it goes through the object store alone."""
        ready = set(self._lanes.names(LaneRole.ROLLOUT)).intersection(self._ready())
        lanes = tuple(sorted(lane for lane in ready if self._back_at.get(lane, 0) <= policy_version))
        if not self._sources or not lanes or self._num_failures >= MAX_FAILURES:
            return None
        if self._plan is None or self._plan.lanes != lanes:
            self._number += 1
            self._plan = BroadcastPlan(number=self._number, sources=self._sources, lanes=lanes)
            logger.info("versions are broadcast from %s to %s", ", ".join(self._ranks), ", ".join(lanes))
        return self._plan

    def ended(
        self, plan: BroadcastPlan, policy_version: int, reports: Sequence[BroadcastReport]
    ) -> DoneBroadcast | None:
        """The broadcast of a version has ended at its sources, with what they report; `None` where it failed."""
        failed = [report for report in reports if report.failure]
        if not failed:
            self._num_failures = 0
            return DoneBroadcast(number=plan.number, lanes=plan.lanes)
        if absent := {lane: report.failure for report in failed for lane in report.absent}:
            for lane, reason in absent.items():
                self._was_absent(lane, policy_version, reason)
        else:
            self._failed(policy_version, failed[0].failure)
        self._stop(plan, failed[0].failure)
        return None

    def _failed(self, policy_version: int, reason: str) -> None:
        """A broadcast has failed, for which no lane is to blame."""
        self._num_failures += 1
        rest = ", and so do all others" if self._num_failures == MAX_FAILURES else ""
        logger.warning(
            "version %d goes through the object store%s, its broadcast has failed (%d in succession): %s",
            policy_version,
            rest,
            self._num_failures,
            reason,
        )

    def _was_absent(self, lane: str, policy_version: int, reason: str) -> None:
        """A broadcast has failed, because a lane did not take part."""
        self._failures_of[lane] += 1
        rest = ""
        if self._failures_of[lane] >= MAX_LANE_FAILURES:
            self._back_at[lane] = policy_version + 1 + NUM_VERSIONS_ASIDE
            rest = f", and so do the {NUM_VERSIONS_ASIDE} after it for this lane, which are broadcast to the others"
        logger.warning(
            "version %d goes through the object store%s, since lane %s did not take part in its broadcast (%d in "
            "succession): %s",
            policy_version,
            rest,
            lane,
            self._failures_of[lane],
            reason,
        )

    def pulled(self, lane: str, receipt: PullReceipt) -> None:
        """A lane has bound a version. Where a broadcast missed it, the next version has new groups."""
        if receipt.is_direct:
            self._failures_of.pop(lane, None)
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
        """A lane's process has died: nobody is to wait for it, and what it lacked its next one may have."""
        self._failures_of.pop(lane, None)
        self._back_at.pop(lane, None)
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
