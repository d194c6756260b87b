"""Follows a run over REST from a fault to the run's end, as its page would: what is said of it, and when."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx

from tests.bench.chaos.scene import Scene

POLL_SECONDS = 0.3
ENDED = frozenset({"completed", "failed", "cancelled", "stopped"})


@dataclass(slots=True)
class Sighting:
    """Something that a user sees, and seconds after the fault when it is first seen."""

    seconds: float
    text: str


@dataclass
class WatchedRun:
    """Times are seconds after the fault."""

    scene: Scene
    struck_at: float
    """The monotonic clock at the fault."""
    num_done: int
    """Most batches that were done so far."""
    state: str = ""
    sightings: list[Sighting] = field(default_factory=list)
    progress: list[float] = field(default_factory=list)
    """When more batches were shown as done than ever before."""
    away_seconds: float = 0.0
    """How long REST gave no answer."""
    _seq: int = 0
    """The newest item of the run's stream that was read."""
    _is_away: bool = False
    _seen: set[str] = field(default_factory=set)

    def follow(self, timeout_seconds: float, each: Callable[[float], None]) -> None:
        """Until the run has ended; `each` is called with the seconds since the fault at every look."""
        while (seconds := self.seconds) < timeout_seconds:
            each(seconds)
            self.look()
            if self.state in ENDED:
                return
            time.sleep(POLL_SECONDS)

    @property
    def struck_at_unix(self) -> float:
        return time.time() - self.seconds

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.struck_at

    @property
    def longest_halt(self) -> tuple[float, float]:
        """(seconds, end) of the longest time without progress; both are 0 where there was no progress any more."""
        halts = [(after - before, after) for before, after in pairwise([0.0, *self.progress])]
        return max(halts, default=(0.0, 0.0))

    def look(self) -> None:
        """Read the run and what was said of it since the last look."""
        began = self.seconds
        try:
            run = self.scene.rest.get(f"/runs/{self.scene.run}")
            lines = self._new_lines()
        except httpx.HTTPError as error:
            self._is_away = True
            self.away_seconds += self.seconds - began + POLL_SECONDS
            self._see(f"REST: {_short(error)}")
            return
        if self._is_away:
            self._is_away = False
            self._see("REST answers again")
        self.state = run["state"]
        if run["warning"]:
            self._see(f"on the page: {run['warning']}")
        for line in lines:
            self._see(f"{line['source']}: {line['text']}")
        if run["num_batches_done"] > self.num_done:
            self.num_done = run["num_batches_done"]
            self.progress.append(self.seconds)

    def _new_lines(self) -> list[dict[str, Any]]:
        """Warnings, errors, and changes of the run's state."""
        entries = self.scene.rest.get(f"/runs/{self.scene.run}/logs?after_seq={self._seq}&limit=1000")["results"]
        self._seq = max((entry["stream_seq"] for entry in entries), default=self._seq)
        told = ("transition", "resumed", "lane_stall")
        return [each for each in entries if each["level"] in ("warning", "error") or each["type"] in told]

    def skip_past(self) -> None:
        """Leave out what was said before the fault."""
        while self._new_lines():
            pass
        self._seen.clear()
        self.sightings.clear()

    def _see(self, text: str) -> None:
        # What differs in its figures alone is one message that goes on.
        kind = re.sub(r"\d+", "0", text)
        if kind not in self._seen:
            self._seen.add(kind)
            self.sightings.append(Sighting(round(self.seconds, 1), text[:300]))


def _short(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return str(error.response.status_code)
    return type(error).__name__
