"""Emulated ranks over real Ray: by speed, the faster one takes more and fetches parts of its own; in step, what passes
of weight 0 take is reported."""

from collections import Counter
from pathlib import Path

import pytest

from tests.engine.emulated.cases import SECONDS_PER_MICRO_BATCH, SLOW_FACTOR, Case
from tests.engine.emulated.run_case import emulate
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.metric_names import Metric

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(300)]

CASE = Case(8, "gap", is_mixed=True, num_batches=4)


def test_a_slow_rank_takes_fewer_micro_batches_and_none_is_padded(
    ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    emulate(CASE, ray_address, ingest, tmp_path, trajectory_num_bytes=2**30)
    units = Counter[tuple[str, int]]()
    for event in ingest.of_type("spans"):
        for span in event["spans"]:
            if span["kind"] == "train":
                units[span["lane"], span["batch"]] += span["num_units"]
    ranks = sorted({lane for lane, _ in units})
    assert len(ranks) == 2
    batches = sorted({batch for _, batch in units})
    for batch in batches:
        assert sum(units[lane, batch] for lane in ranks) == CASE.spec.algebra.num_micro_batches_per_optimizer_step
    # Speeds are measured in the first batch; a rank's last micro-batch is the finest that can be divided.
    slow, fast = sorted(sum(units[lane, batch] for batch in batches[1:]) for lane in ranks)
    assert 0.7 * SLOW_FACTOR < fast / slow < 1.3 * SLOW_FACTOR


@pytest.mark.parametrize("zero_stage", [1, 2])
def test_what_ranks_in_step_lose_to_passes_of_weight_0_is_reported(
    ray_address: str, ingest: Ingest, tmp_path: Path, zero_stage: int
) -> None:
    """A micro-batch holds a whole group, so of two ranks in step one has none whenever a single group is ready."""
    case = Case(8, "gap", is_mixed=False, num_batches=2)
    emulate(case, ray_address, ingest, tmp_path, batch={"micro_batch_size": 64}, zero_stage=zero_stage)
    num_passes = Counter[int]()
    for event in ingest.of_type("spans"):
        for span in event["spans"]:
            if span["kind"] == "train":
                num_passes[span["batch"]] += span["num_units"]
    num_micro_batches = case.spec.algebra.num_groups
    lost = {
        event["batch"] - 1: event["values"][Metric.PADDING_SECONDS]
        for event in ingest.of_type("metrics")
        if Metric.PADDING_SECONDS in event["values"]
    }
    if zero_stage < 2:
        assert not lost and set(num_passes.values()) == {num_micro_batches}
        return
    for batch in range(case.num_batches):
        assert num_passes[batch] > num_micro_batches
        num_padding = num_passes[batch] - num_micro_batches
        assert lost[batch] >= num_padding * SECONDS_PER_MICRO_BATCH
