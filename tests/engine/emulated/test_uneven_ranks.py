"""Emulated ranks of different speeds over real Ray: the faster one takes more, each fetches parts of its own."""

from collections import Counter
from pathlib import Path

import pytest

from tests.engine.emulated.cases import SLOW_FACTOR, Case
from tests.engine.emulated.run_case import emulate
from tests.engine.telemetry.ingest_server import Ingest

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
