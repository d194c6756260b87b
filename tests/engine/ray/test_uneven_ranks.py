"""Two trainer ranks on real Ray that take micro-batches by themselves, each with the parts of trajectories it needs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.driving import bootstrap_answer, start_driver
from tests.engine.ray.local_versions import distance_from_local
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.run_spec import RunSpec

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]
NUM_BATCHES = 2


@pytest.mark.parametrize("config", ["zero1", "zero0"])
def test_ranks_share_micro_batches_and_train_the_weights_of_one_process(
    ray_address: str,
    ingest: Ingest,
    tiny_checkpoint: str,
    tmp_path: Path,
    make_spec: Callable[..., RunSpec],
    process_group: None,
    config: str,
) -> None:
    sections: dict[str, Any] = {
        "num_batches": NUM_BATCHES,
        "batch": {"micro_batch_size": 2, "fragment_size": 2},
        "deepspeed": {"config": config},
        "checkpoint": {"every_num_batches": None},
        "evaluation": {"every_num_batches": None},
    }
    spec = make_spec(**sections, lanes={"num_rollout": 1, "num_trainer": 2})
    driven = start_driver(
        ingest, bootstrap_answer(spec, tiny_checkpoint, tmp_path), ray_address, ("tests.engine.ray.small_parts",)
    )
    try:
        assert driven.finish() == 0
    finally:
        driven.kill()
    assert driven.states() == ["running", "completed"]
    assert all(gate["passed"] for gate in ingest.of_type("gate")) and len(ingest.of_type("gate")) == NUM_BATCHES

    spans = [span for event in ingest.of_type("spans") for span in event["spans"] if span["kind"] == "train"]
    for batch in range(NUM_BATCHES):
        units = {
            lane: sum(span["num_units"] for span in spans if (span["lane"], span["batch"]) == (lane, batch))
            for lane in ("trainer-0", "trainer-1")
        }
        assert sum(units.values()) == spec.algebra.num_micro_batches_per_optimizer_step, "no rank was padded"
        assert all(units.values()), units

    assert distance_from_local(ingest, make_spec(**sections), tiny_checkpoint, tmp_path) < 1e-4
