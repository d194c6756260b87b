"""The driver takes no optimizer step before its ranks have reported every pair of the mini-batch, each once."""

from typing import Any

import pytest

from worker.contracts.algebra import BatchAlgebra, BatchSpec
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
