"""When a run ends, from how fast it gets on, as a band. Pure.

    measured batches of its own ─┐
    runs of the like before it ──┼─► seconds a batch, with their spread ─► times the batches that are left
    what its plan promised ──────┘

Invariant: the basis is the first of these that there is, and is said with the forecast. Without any the end is unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, sqrt
from statistics import fmean, median

from fleet.allocation.bands import Band, spanning

MIN_HISTORY_BATCHES = 3
"""Fewest batches of a run that forecasts of others rest on: the first ones include warm-up."""
T_QUANTILES = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Student's t at 97.5 % for 1 to 10 degrees of freedom: a band holds 19 of 20 runs whose batches vary as measured."""
T_OF_MANY = 2.0
"""The same for more degrees of freedom, within 10 %."""
LEAST_SPREAD = 0.05
"""Batches that took the same time are still taken to vary by a twentieth: evaluations, checkpoints and neighbours on
the same machine come later in a run than the batches it was measured on."""
FACTOR_OF_ONE = 2.0
"""One batch tells no spread: those after it are taken to last between half and twice as long."""
PLAN_FACTOR = 2.0
"""Likewise for a plan, which counts the work of a batch, and neither evaluations nor checkpoints."""


class Basis(StrEnum):
    """What a forecast rests on."""

    MEASURED = "measured"
    """Its own batches."""
    HISTORY = "history"
    """Runs of the same workload with the same lanes."""
    PLAN = "plan"
    """What its plan promised."""
    STOP_LIMIT = "stop_limit"
    """The time within which a run that was told to stop has ended."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a run gets on, or got on."""

    start_seconds: float | None = None
    """From the allocation of its lanes until its first batch began; `None` if unknown."""
    batch_seconds: tuple[float, ...] = ()
    """Its newest batches, each with whatever came between it and the one before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """When a run ends, in seconds from now, and how that is known."""

    band: Band | None
    basis: Basis


UNKNOWN = Outcome(None, Basis.UNKNOWN)


def seconds_of(num_batches: int, pace: Pace) -> Band | None:
    """How long so many batches take at this pace; `None` where none was measured.

    The band is the prediction interval of a sum of independent batches: it counts how they vary, and how far their mean
    is known.
    """
    measured = pace.batch_seconds
    if not measured:
        return None
    mean = fmean(measured)
    likely = num_batches * mean
    if len(measured) == 1:
        return Band(likely / FACTOR_OF_ONE, likely, likely * FACTOR_OF_ONE)
    # `statistics.stdev` adds exact fractions, which a queue of a thousand runs would wait for.
    variance = fsum((seconds - mean) ** 2 for seconds in measured) / (len(measured) - 1)
    spread = sqrt(variance * (num_batches + num_batches**2 / len(measured)))
    margin = max(spread * _t(len(measured) - 1), LEAST_SPREAD * likely)
    # Nothing is known to be faster than the fastest batch, which by rounding may be slower than the mean.
    earliest = max(likely - margin, num_batches * min(measured))
    return Band(min(earliest, likely), likely, likely + margin)


def from_history(num_batches: int, alike: Sequence[Pace]) -> Band | None:
    """How long a run that has not begun holds its lanes, by how runs like it got on."""
    bands = []
    for pace in alike:
        working = seconds_of(num_batches, pace) if len(pace.batch_seconds) >= MIN_HISTORY_BATCHES else None
        if working is not None and pace.start_seconds is not None:
            bands.append(working + Band(*(pace.start_seconds,) * 3))
    return spanning(bands)


def from_plan(num_batches: int, batch_seconds: float, starts: Sequence[float]) -> Band | None:
    """The same by a plan, with the times that other runs took to start; `None` where no run has started yet."""
    if not starts:
        return None
    likely = num_batches * batch_seconds
    return Band(min(starts) + likely / PLAN_FACTOR, median(starts) + likely, max(starts) + likely * PLAN_FACTOR)


def remaining(num_batches: int, pace: Pace, since_batch: float) -> Band | None:
    """How long a run that works goes on, with `num_batches` to do and the last one done `since_batch` seconds ago."""
    whole = seconds_of(num_batches, pace)
    if whole is None or num_batches == 0:
        return whole
    # The batch under way has as much less to do; one that is overdue may end at any moment.
    rest = seconds_of(num_batches - 1, pace)
    assert rest is not None
    return Band(
        max(whole.earliest - since_batch, rest.earliest),
        max(whole.likely - since_batch, rest.likely),
        max(whole.latest - since_batch, rest.latest),
    )


def left_of(band: Band, elapsed: float) -> Band:
    """What is left of a duration of which some has elapsed; of one that is over, anything up to as long again as it was
    uncertain."""
    overdue = max(elapsed - band.latest, 0.0)
    return Band(
        max(band.earliest - elapsed, 0.0),
        max(band.likely - elapsed, 0.0),
        max(band.latest - elapsed, overdue),
    )


def _t(freedom: int) -> float:
    return T_QUANTILES[freedom - 1] if freedom <= len(T_QUANTILES) else T_OF_MANY
