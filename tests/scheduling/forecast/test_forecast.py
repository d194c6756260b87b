"""Forecasts come true where costs are exact: without lending, and with a plan that the run then follows."""

from collections.abc import Sequence

import pytest

from tests.bench.search_grid import Profile, grid
from worker.contracts.names import TrainerAssist
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.forecast import extend
from worker.scheduling.forecast.loans import loans_now
from worker.scheduling.forecast.state_reader import InitialStateReader

MIN_NUM_FORECASTS = 100
"""So many show that the profiles have bubbles at all."""


class ForecastingPolicy:
    """Lends nothing, and records a forecast of the open batches' ends in every bubble."""

    def __init__(self) -> None:
        self._reader = InitialStateReader()
        self.ends: list[tuple[int, float]] = []
        """(batch, predicted second of its publish)."""

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        initial = self._reader.read(state, at)
        assert initial is not None
        _, forecast = extend(initial, (), loans_now(initial.lendable_lanes, (), 0))
        self.ends += [(initial.first_batch + index, at + end) for index, end in enumerate(forecast.ends)]
        return None


def forecast_errors(profile: Profile, *, equal_counts: bool) -> list[float]:
    """|predicted − real end| of every batch in every forecast of a run without lending, as shares of the run."""
    policy = ForecastingPolicy()
    published: list[float] = []

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)

    scheduler = profile.scheduler(TrainerAssist.SEARCH, policy=policy, equal_counts=equal_counts)
    seconds = profile.simulate(scheduler, observe=observe)
    return [abs(end - published[batch]) / seconds for batch, end in policy.ends]


def test_forecasts_of_strict_runs_in_step_come_true() -> None:
    strict = [profile for profile in grid()[::24] if profile.max_staleness == 0]
    errors = [error for profile in strict for error in forecast_errors(profile, equal_counts=True)]
    assert len(errors) > MIN_NUM_FORECASTS
    assert max(errors) < 1e-9


@pytest.mark.parametrize("max_staleness", [0, 1])
def test_forecasts_by_speed_come_true_within_a_hundredth_on_average(max_staleness: int) -> None:
    """Which rank takes the last units of a group that others follow is left open, and at staleness 1 the order in which
    lanes become free."""
    profiles = [profile for profile in grid()[::24] if profile.max_staleness == max_staleness]
    errors = [error for profile in profiles for error in forecast_errors(profile, equal_counts=False)]
    assert len(errors) > MIN_NUM_FORECASTS
    assert sum(errors) / len(errors) < 0.01
