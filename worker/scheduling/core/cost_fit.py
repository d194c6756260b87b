"""What one kind of work costs on one lane, fitted to its durations.

Recent durations weigh most, and where a lane has become another, a shared or a hot machine say, the older ones are
forgotten at once: a lane that generates whole groups makes one or two calls a batch, and a plan cannot wait for ten.
"""

import math
from dataclasses import dataclass

from worker.scheduling.core.costs import Cost, MeasuredCost

_DECAY = 0.9
"""An estimate rests on about the last 10 observations. With durations that vary by ±20 % it is off by 3 % (standard
deviation), and it has followed a machine that became 1.5 times slower after 17 observations. Measured for comparison:
7 % and 3 observations at 0.5, 1 % and 184 observations at 0.99."""
_MIN_RELATIVE_VARIANCE = 1e-3
"""Variance of the sizes ÷ their squared mean, below which they count as one size. So one observation of half or twice
the size determines the line for about 30 to 45 observations of the other size, then no longer: by then its weight is a
few per cent of one observation, and a slope through it would be noise."""
_FIXED_SHARE_DEVIATION = 0.05
"""How far the fixed share of a call's seconds is expected to be from the prior's (or 0), in standard deviations, before
observations tell. Where small calls happen to be those that other processes slow down, a line through them alone takes
the delay for a fixed part: on two cores with two lanes 60 ms, where it is 8."""
_FEWEST_TO_VARY = 1.5
"""Effective observations below which their variance says nothing: one has 1, two have almost 2."""
_FEWEST_SPARE = 0.5
"""Bounds the error of a line through about two observations."""
_FAR = 0.25
"""Relative difference from which on an observation may be of another lane than before. Lanes of a kind differ by less
(`lane_ratios.SAME_WITHIN`), and the decaying weights follow smaller changes soon enough."""
_FEWEST_TO_JUDGE = 8.0
"""Effective observations below which their deviation tells little, so that observations must be further off: three
times the seconds after one, twice after two."""
_NUM_DEVIATIONS = 4.0
"""The same in standard deviations of single observations. Measured over 60,000 of a lane that stays the same, in calls
of one size, of 3 to 5 and of 1 to 6 units: none is taken for a new lane where durations vary by 10 %, one in 5,000 to
15,000 at 20 %, one in 250 to 360 where their logarithm varies by 0.5. A lane that turns twice as slow is seen after 2
observations at 10 % (nine in ten after 3; after 8 where calls of 1 to 6 units have a large fixed part), after 5 to 8 at
20 %."""


@dataclass(frozen=True, slots=True)
class _Suspect:
    """An observation that may be of a lane that is not what it was."""

    num_units: int
    seconds: float
    expected: Cost
    """What was known before it."""
    far: float
    """Relative difference from what is expected beyond which an observation is far off."""

    @property
    def side(self) -> int:
        """1 where it took far longer than expected, -1 where it took far less, 0 else."""
        return self._side(self.num_units, self.seconds)

    def is_confirmed(self, num_units: int, seconds: float) -> bool:
        """Whether the next observation is as far off, on the same side."""
        return self._side(num_units, seconds) == self.side

    def _side(self, num_units: int, seconds: float) -> int:
        expected = self.expected.seconds(num_units)
        if seconds > expected * (1 + self.far):
            return 1
        return -1 if seconds * (1 + self.far) < expected else 0


def _bear_out(num_units: int, seconds: float, expected: Cost) -> bool:
    """Whether `seconds` of a call are not far off what is expected of one of so many units."""
    return not _Suspect(num_units, seconds, expected, _FAR).side


@dataclass(slots=True)
class CostFit:
    """A weighted least-squares line through (units, seconds); each observation weighs `_DECAY` times the next one.

    The fields after the first two are sums over the observations, each times its weight.
    """

    fewest: int
    """The fewest units of any observation."""
    most: int
    """The most units of any observation."""
    weight: float = 0.0
    units: float = 0.0
    seconds: float = 0.0
    units_squared: float = 0.0
    units_seconds: float = 0.0
    seconds_squared: float = 0.0
    rate: float = 0.0
    """Seconds per unit."""
    rate_squared: float = 0.0
    weight_squared: float = 0.0
    """The sum of the squared weights."""
    slowdown: float = 1.0
    """How many times as long as when it was first measured the lane takes, where it has turned slow since."""
    _suspect: _Suspect | None = None
    """The last observation, where it was far from what was expected."""

    def observe(self, num_units: int, seconds: float, *, is_same_call: bool = False) -> float:
        """Take in one duration. Two in a row that are far off on the same side are the new truth: what was observed
        before them is forgotten. `is_same_call`: it is a further share of the last one's call, which confirms nothing.

        Returns:
            How many times as long as before the lane takes, where something was forgotten; else 1.
        """
        if is_same_call:
            self._add(num_units, seconds)
            return 1.0
        suspect, self._suspect = self._suspect, self._suspected(num_units, seconds)
        if suspect is None or not suspect.is_confirmed(num_units, seconds):
            self._add(num_units, seconds)
            return 1.0
        self._begin_anew(suspect)
        self._add(num_units, seconds)
        before = suspect.expected.seconds(self.mean_units)
        change = self.mean_seconds / before if before > 0 else 1.0
        # First calls that were slow say nothing of what others take.
        self.slowdown = max(1.0, self.slowdown * change)
        return change

    def scale(self, factor: float, num_units: int, seconds: float) -> bool:
        """Take all observations to have taken `factor` times as long, if `seconds` of `num_units` bear that out;
        returns whether they do."""
        if not _bear_out(num_units, seconds, self.cost(None).scaled(factor)):
            return False
        self._scale(factor)
        return True

    def recover(self, factor: float) -> None:
        """Take a lane that turned slow to take `factor` (< 1) times as long as since then, but no less than before."""
        self._scale(max(factor, 1.0 / self.slowdown))

    def _scale(self, factor: float) -> None:
        self._suspect = None
        self.slowdown *= factor
        for name in ("seconds", "units_seconds", "rate"):
            setattr(self, name, getattr(self, name) * factor)
        self.seconds_squared *= factor**2
        self.rate_squared *= factor**2

    def confirm(self, factor: float) -> bool:
        """Take the last observation as the new truth, if it was far off and bears out that the lane takes `factor`
        times as long; returns whether."""
        suspect = self._suspect
        if suspect is None or not _bear_out(suspect.num_units, suspect.seconds, suspect.expected.scaled(factor)):
            return False
        self._begin_anew(suspect)
        self.slowdown = max(1.0, self.slowdown * factor)
        return True

    def _suspected(self, num_units: int, seconds: float) -> _Suspect | None:
        """The observation, if it is far from what others took. Beyond the sizes known, that would be a guess."""
        if not self.weight:
            return None
        fewest, most = self._known_sizes
        if not fewest <= num_units <= most:
            return None
        expected = self.cost(None)
        far = _FAR * max(1.0, _FEWEST_TO_JUDGE / self._effective_number)
        suspect = _Suspect(num_units, seconds, expected, max(far, _NUM_DEVIATIONS * self._relative_deviation))
        return suspect if suspect.side else None

    def _begin_anew(self, suspect: _Suspect) -> None:
        """Become the fit of this observation alone, which was of another lane than those before."""
        for name in ("weight", "units", "seconds", "units_squared", "units_seconds", "seconds_squared"):
            setattr(self, name, 0.0)
        self.rate = self.rate_squared = self.weight_squared = 0.0
        self.fewest = self.most = suspect.num_units
        self._suspect = None
        self._add(suspect.num_units, suspect.seconds)

    def _add(self, num_units: int, seconds: float) -> None:
        self.fewest, self.most = min(self.fewest, num_units), max(self.most, num_units)
        self.weight = self.weight * _DECAY + 1.0
        self.units = self.units * _DECAY + num_units
        self.seconds = self.seconds * _DECAY + seconds
        self.units_squared = self.units_squared * _DECAY + num_units * num_units
        self.units_seconds = self.units_seconds * _DECAY + num_units * seconds
        self.seconds_squared = self.seconds_squared * _DECAY + seconds * seconds
        rate = seconds / num_units
        self.rate = self.rate * _DECAY + rate
        self.rate_squared = self.rate_squared * _DECAY + rate * rate
        self.weight_squared = self.weight_squared * _DECAY**2 + 1.0

    @property
    def is_in_doubt(self) -> bool:
        """Whether the last observation was far from what was expected, which the next may confirm."""
        return self._suspect is not None

    @property
    def mean_units(self) -> float:
        return self.units / self.weight

    @property
    def mean_seconds(self) -> float:
        return self.seconds / self.weight

    @property
    def variance(self) -> float:
        """The weighted variance of the units; 0 where nearly all of the weight is on one size."""
        variance = self.units_squared / self.weight - self.mean_units**2
        return variance if variance > _MIN_RELATIVE_VARIANCE * self.mean_units**2 else 0.0

    def cost(self, prior: Cost | None) -> Cost:
        """The fitted line. Its fixed share is the prior's, or 0 without one, as far as the observations do not tell:
        where only one size still has weight, or seconds of the same size vary too much."""
        mean_units, mean_seconds = self.mean_units, self.mean_seconds
        fixed_share = 0.0 if prior is None else prior.fixed_share(mean_units)
        expected = Cost.from_measurement(mean_seconds, mean_units, fixed_share)
        if not self.variance:
            return expected
        slope = max(0.0, self._slope(expected.per_unit))
        fixed = mean_seconds - slope * mean_units
        return Cost(fixed, slope) if fixed >= 0 else Cost(0.0, mean_seconds / mean_units)

    def _slope(self, expected: float) -> float:
        """Seconds of one more unit: the mean of the line's and of what is `expected`, each weighted by the inverse of
        its variance, as Bayesian linear regression with a normal prior."""
        number, variance = self._effective_number, self.variance
        covariance = self.units_seconds / self.weight - self.mean_units * self.mean_seconds
        fitted = covariance / variance
        unexplained = max(0.0, self.seconds_squared / self.weight - self.mean_seconds**2 - fitted * covariance)
        # A line has two parameters. Where about two observations have weight, they say little of their own error.
        error = unexplained / max(number - 2, _FEWEST_SPARE) / variance
        prior = (_FIXED_SHARE_DEVIATION * self.mean_seconds / self.mean_units) ** 2
        return (fitted * prior + expected * error) / (prior + error) if prior + error else fitted

    def measured(self, prior: Cost | None) -> MeasuredCost:
        """The fitted line, with the sizes that still have weight."""
        return MeasuredCost(self.cost(prior), *self._known_sizes, self.relative_error, self.slowdown)

    @property
    def _known_sizes(self) -> tuple[int, int]:
        """The fewest and the most units that still have weight."""
        size = round(self.mean_units)
        return (self.fewest, self.most) if self.variance else (size, size)

    @property
    def relative_error(self) -> float:
        """The standard error of the mean seconds of a unit ÷ that mean; infinite after one observation, which does not
        show how much they vary."""
        number = self._effective_number
        return self._relative_deviation / math.sqrt(number) if number >= _FEWEST_TO_VARY else math.inf

    @property
    def _effective_number(self) -> float:
        """Equally weighted observations that would tell as much."""
        return self.weight**2 / self.weight_squared

    @property
    def _relative_deviation(self) -> float:
        """The standard deviation of the seconds of a unit ÷ their mean; 0 after one observation."""
        number, mean = self._effective_number, self.rate / self.weight
        if number < _FEWEST_TO_VARY or mean <= 0:
            return 0.0
        variance = max(0.0, self.rate_squared / self.weight - mean**2) * number / (number - 1)
        return math.sqrt(variance) / mean
