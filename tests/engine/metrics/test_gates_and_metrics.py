"""The replay gate and the training metrics, computed from the statistics of trainer ranks."""

import math

import pytest
import torch

from worker.contracts.metric_names import Metric
from worker.contracts.replay_bounds import ReplayGateSpec
from worker.engine.errors import ReplayGateError
from worker.engine.metrics.error_histogram import LOWEST, merged, quantile
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats, update_metrics
from worker.engine.trainer.learners.mean_errors import MeanErrors
from worker.engine.types import UpdateStats

BOUNDS = ReplayGateSpec().bounds("fp32")
BF16 = ReplayGateSpec().bounds("bf16")


def stats(mean_error: float, ratio_deviation: float) -> UpdateStats:
    """Of one element."""
    return of_errors([mean_error], ratio_deviation)


def of_errors(errors: list[float], ratio_deviation: float = 0.0) -> UpdateStats:
    found = MeanErrors.of(torch.tensor(errors))
    return UpdateStats(
        num_pairs=1,
        sums={"squared_mean_error": float(found.sum_of_squares)},
        maxima={"mean_error": float(found.largest), "replay_ratio_deviation": ratio_deviation},
        histograms={"mean_error": tuple(found.counts.tolist())},
    )


def test_a_gate_that_passes_returns_its_values() -> None:
    values = check_replay_gate(stats(5e-4, 5e-5), BOUNDS)
    expected = {"mean_error": 5e-4, "rms_error": 5e-4, "quantile_error": 5e-4, "ratio_deviation": 5e-5}
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("mean_error", "ratio_deviation"), [(2e-3, 0.0), (0.0, 2e-4), (math.nan, 0.0)])
def test_a_gate_that_fails_names_its_values_and_bounds(mean_error: float, ratio_deviation: float) -> None:
    with pytest.raises(ReplayGateError, match=r"std is .* \(bound 0.001\), .* max\|ratio − 1\| is .* \(bound 0.0001\)"):
        check_replay_gate(stats(mean_error, ratio_deviation), BOUNDS)


def test_a_gate_that_measured_nothing_fails() -> None:
    with pytest.raises(ReplayGateError, match="carry their means"):
        check_replay_gate(UpdateStats(num_pairs=1, maxima={"replay_ratio_deviation": 0.0}), BOUNDS)


def test_in_bf16_one_large_error_among_many_is_reported_and_passes() -> None:
    """As the largest of 10⁹ rounding errors: the bound on it alone failed runs by their size."""
    values = check_replay_gate(of_errors([0.005] * 9_999 + [0.3]), BF16)
    assert values["mean_error"] == pytest.approx(0.3)
    assert values["rms_error"] == pytest.approx(math.sqrt((9_999 * 0.005**2 + 0.3**2) / 10_000), rel=1e-5)
    assert 0.005 <= values["quantile_error"] <= 0.005 * 2**0.125


@pytest.mark.parametrize(
    "errors",
    [[0.03] * 1000, [0.001] * 997 + [0.2] * 3, [0.001] * 999 + [math.nan]],
    ids=["everywhere", "in_a_few_channels", "not_finite"],
)
def test_in_bf16_errors_that_are_no_rounding_fail(errors: list[float]) -> None:
    with pytest.raises(ReplayGateError, match=r"root mean square is .* \(bound 0.02\), its quantile of 0.999 is"):
        check_replay_gate(of_errors(errors), BF16)


def test_ranks_and_calls_are_judged_together() -> None:
    """One rank's thousandth would be a failure of its own; among the elements of all ranks it is not."""
    part = of_errors([0.001] * 998 + [0.2] * 2)
    with pytest.raises(ReplayGateError):
        check_replay_gate(part, BF16)
    whole = check_replay_gate(merge_stats([part, *[of_errors([0.001] * 1000)] * 9]), BF16)
    assert whole["rms_error"] == pytest.approx(math.sqrt((9998 * 1e-6 + 2 * 0.04) / 10_000), rel=1e-5)
    assert whole["mean_error"] == pytest.approx(0.2)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_streamed_quantile_is_that_of_all_errors_to_within_a_bin(share: float) -> None:
    errors = torch.randn(20_000, generator=torch.Generator().manual_seed(0)).abs() * 0.01
    counts = merged(MeanErrors.of(part).counts.tolist() for part in errors.split(1_500))
    exact = float(errors.sort().values[math.ceil(share * len(errors)) - 1])
    assert exact <= quantile(counts, share) <= exact * 2**0.125 * (1 + 1e-5)


def test_errors_beyond_the_bins_are_counted_at_their_ends() -> None:
    counts = MeanErrors.of(torch.tensor([0.0, 1e-12, 1e6, math.inf, math.nan])).counts.tolist()
    assert (counts[0], counts[-1], sum(counts)) == (2, 3, 5)
    assert quantile(counts, 0.4) == LOWEST
    assert quantile(counts, 0.999) == math.inf
    with pytest.raises(ValueError, match="at least one error"):
        quantile((), 0.5)


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
