"""A watchdog over lanes whose calls, answers and clock a test sets."""

from typing import Any

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import LaneWork
from worker.engine.actors.reports import CallProgress, CallReport, OpenCollective
from worker.engine.control.lane_watchdog import LaneWatchdog
from worker.engine.control.pending_calls import OpenCall
from worker.engine.control.watch_limits import WatchLimits


class WatchedLanes:
    """Takes the place of `ClusterLanes`, `PendingCalls` and the clock: lanes with calls that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.oldest: dict[str, OpenCall] = {}
        self.num_steps: dict[str, int] = {}
        self.stopped: set[str] = set()
        self.collectives: dict[str, tuple[OpenCollective, ...] | None] = {}
        self.asked_collectives: list[str] = []

    def call(self, lane: str, work: LaneWork) -> None:
        self.oldest[lane] = OpenCall(work, self.now)

    def ask_progress(self, lane: str) -> Any:
        return lane

    def progress_told(self, asked: Any) -> CallProgress | None:
        told = CallProgress(num_steps=self.num_steps.get(asked, 0), stack=("generate (rollout.py:1)",))
        return None if asked in self.stopped else told

    def open_collectives(self, lane: str) -> dict[str, tuple[OpenCollective, ...] | None]:
        self.asked_collectives.append(lane)
        return self.collectives


class Watched:
    """A watchdog over such lanes."""

    def __init__(self, client: Any, answer: BootstrapAnswer) -> None:
        self.lanes = WatchedLanes()
        self.client = client
        self.score_seconds = sum(reward.max_seconds for reward in answer.spec.rewards)
        self.hung: dict[str, str] = {}
        self.limits = WatchLimits.of(answer)
        doubles: Any = self.lanes
        self.watchdog = LaneWatchdog(
            calls=doubles,
            lanes=doubles,
            client=client,
            limits=self.limits,
            on_hung=self._end,
            clock=lambda: self.lanes.now,
        )

    def _end(self, lane: str, reason: str) -> None:
        del self.lanes.oldest[lane]
        self.hung[lane] = reason

    def wait(self, seconds: float, steps_per_second: float = 0.0, lane: str = "") -> None:
        for second in range(round(seconds)):
            self.lanes.now += 1.0
            if steps_per_second:
                self.lanes.num_steps[lane] = round(second * steps_per_second) + 1
            self.watchdog.step()

    def measure(self, lane: str, work: LaneWork, seconds: float) -> None:
        """The lane carries out a call in so many seconds."""
        self.lanes.oldest.pop(lane, None)
        self.watchdog.answered(lane, work, CallReport(start=0.0, end=seconds, value=None))

    def shown(self, lane: str) -> list[str]:
        return [event.state.value for event in self.client.events if event.lane == lane]
