"""The driver takes no optimizer step before its ranks have reported every pair of the mini-batch, each once, and says
when rounding alone clips pairs and what passes of weight 0 took."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.algorithms import FlowDppoSpec, FlowGrpoSpec, GrpoGuardSpec
from worker.contracts.algorithms.base import Algorithm
from worker.contracts.metric_names import Metric
from worker.contracts.replay_bounds import ReplayGateSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.control.clocks import DriverClock
from worker.engine.control.metrics_reporter import MetricsReporter
from worker.engine.errors import MinibatchError
from worker.engine.types import UpdateStats

ALGEBRA = BatchAlgebra.resolve(BatchSpec(num_prompts_per_batch=2, group_size=3), SamplingSpec(num_denoising_steps=4))
UNUSED: Any = None
"""What counting pairs does not touch."""


@pytest.fixture
def reporter() -> MetricsReporter:
    return MetricsReporter(
        client=UNUSED,
        samples=UNUSED,
        fragments=UNUSED,
        advantages=UNUSED,
        spans=UNUSED,
        algebra=ALGEBRA,
        gate=None,
        algorithm=FlowGrpoSpec(),
        clock=DriverClock(),
    )


@pytest.mark.parametrize("shares", [(), (15,), (3, 12), (3, 15, 3)])
def test_a_step_over_missing_or_repeated_pairs_is_refused(reporter: MetricsReporter, shares: tuple[int, ...]) -> None:
    for number in shares:
        reporter.accumulated(UpdateStats(num_pairs=number))
    with pytest.raises(MinibatchError, match=rf"of 18 pairs must be complete at its optimizer step, got {sum(shares)}"):
        reporter.require_complete(0)


def test_shares_of_any_size_make_a_complete_minibatch(reporter: MetricsReporter) -> None:
    for number in (3, 0, 15):
        reporter.accumulated(UpdateStats(num_pairs=number))
    reporter.require_complete(0)


def test_only_the_pairs_of_skipped_groups_may_be_missing(reporter: MetricsReporter) -> None:
    for number in (3, 0, 6):
        reporter.accumulated(UpdateStats(num_pairs=number))
    with pytest.raises(MinibatchError, match="got 9 and 0 skipped: accumulate the missing micro-batches or abort"):
        reporter.require_complete(0)
    reporter.require_complete(1)
    with pytest.raises(MinibatchError, match="got 9 and 18 skipped"):
        reporter.require_complete(2)


class Events:
    """A telemetry client that is told events and keeps none."""

    def emit(self, kind: type, **fields: Any) -> None: ...


def gated(algorithm: Algorithm, *, staleness: int) -> MetricsReporter:
    return MetricsReporter(
        client=Events(),  # type: ignore[arg-type]
        samples=UNUSED,
        fragments=SimpleNamespace(version_of=lambda batch: batch - staleness),  # type: ignore[arg-type]
        advantages=UNUSED,
        spans=UNUSED,
        algebra=ALGEBRA,
        gate=ReplayGateSpec().bounds("bf16"),
        algorithm=algorithm,
        clock=DriverClock(),
    )


def first_update(*, num_clipped: int) -> UpdateStats:
    return UpdateStats(
        num_pairs=100,
        sums={"clipped": float(num_clipped), "squared_mean_error": 0.0},
        maxima={"mean_error": 0.0, "replay_ratio_deviation": 3e-5, "ratio_deviation": 3e-5},
        histograms={"mean_error": (100,)},
    )


@pytest.mark.parametrize(
    ("algorithm", "staleness", "num_clipped", "expected"),
    [
        (GrpoGuardSpec(), 0, 7, "7% of the first update's pairs are beyond `algorithm.clip_range` (2e-06)"),
        (FlowDppoSpec(), 0, 100, "100% of the first update's pairs are beyond `algorithm.divergence_bound` (1e-05)"),
        (FlowGrpoSpec(), 0, 0, ""),
        (FlowDppoSpec(), 1, 100, ""),
    ],
    ids=["guard", "dppo", "none_clipped", "stale"],
)
def test_rounding_beyond_the_algorithms_own_bound_is_said_once_with_what_to_set(
    algorithm: Algorithm, staleness: int, num_clipped: int, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    reporter = gated(algorithm, staleness=staleness)
    reporter.accumulated(first_update(num_clipped=num_clipped))
    with caplog.at_level(logging.WARNING, logger="worker"):
        reporter.check_gate(0)
        reporter.check_gate(1)
    assert len(caplog.messages) == bool(expected)
    assert expected in caplog.text
    assert ("`sampling.old_log_probs` to trainer" in caplog.text) == bool(expected)


class Recorded(Events):
    """A telemetry client that keeps the metrics of each batch."""

    def __init__(self) -> None:
        self.values: dict[int, dict[str, float]] = {}

    def emit(self, kind: type, **fields: Any) -> None:
        self.values.setdefault(fields["batch"], {}).update(fields.get("values", {}))


@pytest.mark.parametrize(
    ("ranks_in_step", "expected"), [(True, [0.75, 0.0]), (False, [None, None])], ids=["in_step", "by_speed"]
)
def test_what_passes_of_weight_0_took_is_reported_with_their_own_batch(
    ranks_in_step: bool, expected: list[float | None]
) -> None:
    client, record = Recorded(), SimpleNamespace(fragment=SimpleNamespace(policy_version=0, members=(0, 1)))
    usual: Any = {
        "samples": UNUSED,
        "advantages": UNUSED,
        "gate": None,
        "algorithm": FlowGrpoSpec(),
        "clock": DriverClock(),
        "algebra": ALGEBRA,
    }
    usual["fragments"] = SimpleNamespace(of_batch=lambda purpose, batch: [record])
    usual["spans"] = SimpleNamespace(take_seconds=dict)
    reporter = MetricsReporter(client=client, ranks_in_step=ranks_in_step, **usual)  # type: ignore[arg-type]
    for batch, seconds in enumerate(((0.5, 0.25), ())):
        for each in seconds:
            reporter.accumulated(UpdateStats(num_pairs=3), padding_seconds=each)
        reporter.trained(batch, batch + 1)
    assert [client.values[number].get(Metric.PADDING_SECONDS) for number in (1, 2)] == expected
