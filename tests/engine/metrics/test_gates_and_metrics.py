"""The replay gate and the training metrics, computed from the statistics of trainer ranks."""

import math

import pytest

from worker.contracts.metric_names import Metric
from worker.contracts.sections import ReplayGateSpec
from worker.engine.errors import ReplayGateError
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats, update_metrics
from worker.engine.types import UpdateStats

BOUNDS = ReplayGateSpec().bounds("fp32")


def stats(mean_error: float, ratio_deviation: float) -> UpdateStats:
    return UpdateStats(num_pairs=1, maxima={"mean_error": mean_error, "replay_ratio_deviation": ratio_deviation})


def test_a_gate_that_passes_returns_its_values() -> None:
    values = check_replay_gate(stats(5e-4, 5e-5), BOUNDS)
    assert values == {"mean_error": 5e-4, "ratio_deviation": 5e-5}


@pytest.mark.parametrize(("mean_error", "ratio_deviation"), [(2e-3, 0.0), (0.0, 2e-4), (math.nan, 0.0)])
def test_a_gate_that_fails_names_both_values(mean_error: float, ratio_deviation: float) -> None:
    with pytest.raises(ReplayGateError, match=r"std is .* \(bound 0.001\), max\|ratio − 1\| is .* \(bound 0.0001\)"):
        check_replay_gate(stats(mean_error, ratio_deviation), BOUNDS)


def test_a_gate_that_measured_nothing_fails() -> None:
    with pytest.raises(ReplayGateError, match="carry their means"):
        check_replay_gate(UpdateStats(num_pairs=1, maxima={"replay_ratio_deviation": 0.0}), BOUNDS)


def test_merging_adds_sums_and_keeps_the_larger_maximum() -> None:
    one = UpdateStats(num_pairs=2, sums={"loss": 1.0, "ratio": 2.0}, maxima={"ratio_deviation": 0.1})
    other = UpdateStats(num_pairs=3, sums={"loss": 2.0, "ratio": 3.0}, maxima={"ratio_deviation": 0.3})
    assert merge_stats([one, other]) == UpdateStats(
        num_pairs=5, sums={"loss": 3.0, "ratio": 5.0}, maxima={"ratio_deviation": 0.3}
    )


def test_a_ranks_nan_is_not_hidden_by_another_ranks_number() -> None:
    for parts in ([stats(math.nan, 0.0), stats(0.0, 0.0)], [stats(0.0, 0.0), stats(math.nan, 0.0)]):
        with pytest.raises(ReplayGateError):
            check_replay_gate(merge_stats(parts), BOUNDS)


def test_metrics_are_means_over_pairs_and_leave_out_what_was_not_measured() -> None:
    merged = UpdateStats(num_pairs=4, sums={"loss": 2.0, "ratio": 4.0, "clipped": 1.0}, maxima={"ratio_deviation": 0.3})
    assert update_metrics(merged) == {
        Metric.LOSS: 0.5,
        Metric.RATIO_MEAN: 1.0,
        Metric.CLIP_FRACTION: 0.25,
        Metric.RATIO_MAX_DEVIATION: 0.3,
    }


def test_statistics_of_no_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="must be ≥ 1, got 0"):
        update_metrics(UpdateStats())
