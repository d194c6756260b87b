"""Two ways to do the same work, timed in turns: what one costs over the other, whatever else the machine does."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deepspeed.accelerator import get_accelerator

Work = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Of one call of each work, turn by turn."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]
    """Of this process: work beside it on the machine hardly touches them. On an accelerator, wall seconds count."""

    @property
    def counted(self) -> tuple[float, ...]:
        return self.processor if on_cpu() else self.wall

    @property
    def median(self) -> float:
        return statistics.median(self.counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Of one work over another, as a share: 0.05 is 5 %."""

    median: float
    low: float
    """First quartile of the turns' ratios."""
    high: float
    """Third quartile."""

    @classmethod
    def of(cls, ours: Sequence[float], bare: Sequence[float]) -> "Overhead":
        """From the ratios of neighbours in time, one of each turn."""
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return cls(median=median - 1, low=low - 1, high=high - 1)

    def __str__(self) -> str:
        return f"{self.median:+7.1%} ({self.low:+.1%} to {self.high:+.1%})"


def on_cpu() -> bool:
    return bool(get_accelerator().device_name() == "cpu")


def in_turns(repeats: int, *work: Work, warm_up: int = 1) -> list[Seconds]:
    """Seconds of each of `work`, one after the other in each turn, every second turn backwards."""
    taken: list[list[tuple[float, float]]] = [[] for _ in work]
    for turn in range(warm_up + repeats):
        order = range(len(work))
        for place in order if turn % 2 else reversed(order):
            taken[place].append(_timed(work[place]))
    kept = [times[warm_up:] for times in taken]
    return [Seconds(wall=tuple(w for w, _ in times), processor=tuple(p for _, p in times)) for times in kept]


def _timed(work: Work) -> tuple[float, float]:
    get_accelerator().synchronize()
    wall, processor = time.perf_counter(), time.process_time()
    work()
    get_accelerator().synchronize()
    return time.perf_counter() - wall, time.process_time() - processor
