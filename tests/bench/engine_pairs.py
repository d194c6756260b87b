"""Ways to do the same work, timed in alternation, so that other load on the machine affects all of them alike."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deepspeed.accelerator import get_accelerator

Work = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """The seconds of one work, by turn."""

    wall: tuple[float, ...]
    """Wall-clock seconds."""
    processor: tuple[float, ...]
    """Processor seconds of this process, which other processes hardly change."""

    @property
    def counted(self) -> tuple[float, ...]:
        """The seconds that are reported: processor seconds on a CPU, wall-clock seconds on an accelerator."""
        return self.processor if on_cpu() else self.wall

    @property
    def median(self) -> float:
        return statistics.median(self.counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """The overhead of one work over another, as a share: 0.05 is 5 %."""

    median: float
    """The median over turns."""
    low: float
    """The first quartile over turns."""
    high: float
    """The third quartile over turns."""

    @classmethod
    def of(cls, ours: Sequence[float], plain: Sequence[float]) -> "Overhead":
        """The overhead of `ours` over `plain`, from the ratio of their seconds in each turn."""
        ratios = [one / other for one, other in zip(ours, plain, strict=True)]
        low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return cls(median=median - 1, low=low - 1, high=high - 1)

    def __str__(self) -> str:
        return f"{self.median:+7.1%} ({self.low:+.1%} to {self.high:+.1%})"


def on_cpu() -> bool:
    return bool(get_accelerator().device_name() == "cpu")


def in_turns(repeats: int, *work: Work, warm_up: int = 1) -> list[Seconds]:
    """The seconds of each of `work` in `repeats` turns; every second turn runs them in reverse order."""
    taken: list[list[tuple[float, float]]] = [[] for _ in work]
    for turn in range(warm_up + repeats):
        order = range(len(work))
        for index in order if turn % 2 else reversed(order):
            taken[index].append(_timed(work[index]))
    kept = [times[warm_up:] for times in taken]
    return [Seconds(wall=tuple(w for w, _ in times), processor=tuple(p for _, p in times)) for times in kept]


def _timed(work: Work) -> tuple[float, float]:
    """(wall-clock, processor) seconds of one call."""
    get_accelerator().synchronize()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    get_accelerator().synchronize()
    return time.perf_counter() - wall, time.process_time() - processor
