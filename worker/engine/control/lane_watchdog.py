"""Tells a lane that hangs from one that is slow, and has it ended.

```text
a call is open ─► no progress for ASK_SECONDS ─► the lane's process is asked, again and again
                      answers, more steps done ─► it works, however long the call takes
                      answers, no more steps   ─► slow   ─► at a limit from measured or planned calls: hung
                      does not answer          ─► silent ─► at a shorter limit: hung
                      is not up yet            ─► is not asked, slow ─► at the limit of a placement: hung
```

A report is progress, and so is a step (`worker.engine.step_count`). A process that was stopped, or that holds Python's
lock for ever, does not answer; one that waits for a collective or for its device does, from a thread of its own.

Invariant: while the driver itself did not look, no lane's time runs: a suspended machine hangs nothing.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ray import ObjectRef

from worker.contracts.lane_events import LaneStallEvent
from worker.contracts.lanes import LaneWork, StallState
from worker.engine.actors.reports import CallReport
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.open_collectives import log_open_collectives
from worker.engine.control.pending_calls import OpenCall, PendingCalls
from worker.engine.control.watch_limits import WatchLimits
from worker.engine.telemetry.telemetry_client import TelemetryClient

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often the open calls are looked at."""
AWAY_SECONDS = 5.0
"""From so long between two looks the driver counts as having been away: one iteration takes a fraction of it."""
ASK_SECONDS = 10.0
"""Without progress for so long a lane is asked, and again so long after each answer; one that has not answered by then
is shown as silent. A healthy process answers within milliseconds, one that imports libraries within seconds."""
MAX_SILENT_SECONDS = 30.0
"""How long a process may be silent: torch's operations and collectives give Python's lock away."""
MAX_SILENT_SECONDS_OF_LOADING = 300.0
"""How long it may be while it loads: linking libraries holds Python's lock, for minutes where a cold disk is shared."""
CALLS_WITHOUT_PROGRESS = 10.0
"""The limit of slow work, as a multiple of the longest such call that was measured. Calls of several fragments, and
evaluations, are some times longer than others, and a lane whose GPU is shared or throttled is."""
SHOWN_SHARE = 0.25
"""The share of the limit from which a lane is shown as slow."""


@dataclass(slots=True)
class _Watch:
    """What is known of a lane with an open call. Times are of the monotonic clock."""

    call: OpenCall
    progress_at: float
    asked: ObjectRef | None = None
    """Not answered yet."""
    asked_at: float = 0.0
    num_steps: int | None = None
    stack: tuple[str, ...] = ()
    shown: StallState | None = None
    """What was reported of it."""


class LaneWatchdog:
    """Watches the lanes with open calls."""

    def __init__(
        self,
        *,
        calls: PendingCalls,
        lanes: ClusterLanes,
        client: TelemetryClient,
        limits: WatchLimits,
        on_hung: Callable[[str, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            limits: the run's.
            on_hung: called with a lane that hangs, and the reason.
            clock: as `time.monotonic`.
        """
        self._calls, self._lanes, self._client = calls, lanes, client
        self._limits = limits
        self._on_hung = on_hung
        self._clock = clock
        self._unix_offset = time.time() - clock()
        self._watches: dict[str, _Watch] = {}
        self._answered_at: dict[str, float] = {}
        self._longest: dict[tuple[str, LaneWork], float] = {}
        self._looked_at = self._looking_since = clock()

    def answered(self, lane: str, work: LaneWork, report: CallReport[Any]) -> None:
        """Note a lane's report."""
        seconds = report.end - report.start
        self._longest[lane, work] = max(seconds, self._longest.get((lane, work), 0.0))
        self._answered_at[lane] = self._clock()
        if (watch := self._watches.pop(lane, None)) is not None and watch.shown is not None:
            self._show(lane, watch, StallState.WORKING)

    def step(self) -> None:
        """Look at the open calls, if it is time."""
        now = self._clock()
        if now - self._looked_at < LOOK_SECONDS:
            return
        if now - self._looked_at > AWAY_SECONDS:
            self._looking_since = now
        self._looked_at = now
        open_calls = dict(self._calls.oldest)
        # Calls that were dropped have no end to report.
        self._watches = {lane: watch for lane, watch in self._watches.items() if open_calls.get(lane) == watch.call}
        for lane, call in open_calls.items():
            if lane not in self._watches:
                began = max(call.begun_at, self._answered_at.get(lane, 0.0))
                self._watches[lane] = _Watch(call, began, asked_at=began)
            # Ending one lane may have dropped the calls of others.
            if lane in self._watches:
                self._look(lane, self._watches[lane], now)

    def _look(self, lane: str, watch: _Watch, now: float) -> None:
        self._ask(lane, watch, now)
        seen = self._judge(lane, watch, now)
        if seen is StallState.HUNG:
            del self._watches[lane]
            self._show(lane, watch, seen)
            if watch.call.work is not LaneWork.START:
                log_open_collectives(self._lanes, lane)
            self._on_hung(lane, self._reason(lane, watch, now))
        elif seen is not watch.shown:
            self._show(lane, watch, seen or StallState.WORKING)
            watch.shown = seen

    def _ask(self, lane: str, watch: _Watch, now: float) -> None:
        if watch.call.work is LaneWork.START:
            # Before its process is up there is nobody to ask.
            return
        if watch.asked is None:
            if now - max(watch.progress_at, watch.asked_at) >= ASK_SECONDS:
                watch.asked, watch.asked_at = self._lanes.ask_progress(lane), now
            return
        answer = self._lanes.progress_told(watch.asked)
        if answer is None:
            return
        watch.asked, watch.asked_at, watch.stack = None, now, answer.stack
        if watch.num_steps is not None and answer.num_steps > watch.num_steps:
            watch.progress_at = now
        watch.num_steps = answer.num_steps

    def _judge(self, lane: str, watch: _Watch, now: float) -> StallState | None:
        """`None` for a lane that may well be working."""
        silent = 0.0 if watch.asked is None else now - max(watch.asked_at, self._looking_since)
        still = now - max(watch.progress_at, self._looking_since)
        is_loading = watch.call.work is LaneWork.LOAD
        limit = self._limit(lane, watch.call.work)
        if silent >= (MAX_SILENT_SECONDS_OF_LOADING if is_loading else MAX_SILENT_SECONDS) or still >= limit:
            return StallState.HUNG
        if silent >= ASK_SECONDS:
            return StallState.SILENT
        return StallState.SLOW if still >= SHOWN_SHARE * limit else None

    def _limit(self, lane: str, work: LaneWork) -> float:
        """Seconds without progress after which slow work counts as hung."""
        longest = self._longest_call(lane, work)
        limit = self._limits.first_of(lane, work) if longest is None else CALLS_WITHOUT_PROGRESS * longest
        return max(self._limits.least_of(work), limit)

    def _longest_call(self, lane: str, work: LaneWork) -> float | None:
        """Seconds, of this lane's such calls, else of any lane's."""
        if (lane, work) in self._longest:
            return self._longest[lane, work]
        return max((seconds for (_, known), seconds in self._longest.items() if known is work), default=None)

    def _reason(self, lane: str, watch: _Watch, now: float) -> str:
        work = watch.call.work
        if work is LaneWork.START:
            return f"the cluster did not bring its process up within {self._limit(lane, work):.0f} s"
        longest = self._longest_call(lane, work)
        planned = self._limits.planned_seconds(lane, work)
        known = "no such call was measured yet" if longest is None else f"its like took at most {longest:.1f} s"
        if longest is None and planned is not None:
            known += f", one was planned to take {planned:.1f} s"
        if watch.asked is not None and now - watch.asked_at >= ASK_SECONDS:
            return f"its process has not answered for {now - watch.asked_at:.0f} s, called to {work}"
        at = f", in {watch.stack[-1]}" if watch.stack else ""
        return f"it has not gone on to {work} for {now - watch.progress_at:.0f} s{at}; {known}"

    def _show(self, lane: str, watch: _Watch, state: StallState) -> None:
        work = watch.call.work
        self._client.emit(
            LaneStallEvent,
            lane=lane,
            work=work,
            state=state,
            since=self._unix_offset + watch.progress_at,
            limit_seconds=self._limit(lane, work),
            longest_seconds=self._longest_call(lane, work),
            stack=() if state is StallState.WORKING else watch.stack,
        )
