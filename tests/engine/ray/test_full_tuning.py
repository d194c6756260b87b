"""Full fine-tuning on real Ray: versions are published in shards by all ranks, and diffusers loads the download."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import FluxTransformer2DModel

from tests.engine.driving import Driven, bootstrap_answer, start_driver
from tests.engine.ray.reported import kinds
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.run_spec import RunSpec
from worker.engine.sync.checksums import checksum
from worker.engine.sync.shards import split_into_shards
from worker.engine.types import version_checksum

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]
NUM_BATCHES = 3
TWO_RANKS = {"num_rollout": 1, "num_trainer": 2}


def downloaded(driven: Driven, folder: Path) -> tuple[dict[str, Any], FluxTransformer2DModel, FluxTransformer2DModel]:
    """The last version's event, and the transformer that diffusers loads from its files, in bf16 and in fp32."""
    (event,) = driven.ingest.of_type("adapter")
    assert event["final"] and event["policy_version"] == NUM_BATCHES
    for file in event["files"]:
        path = folder / file["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(driven.ingest.artifacts[f"{event['artifact']}/{file['path']}"])
        assert path.stat().st_size == file["num_bytes"]
    load = FluxTransformer2DModel.from_pretrained
    return event, load(folder / "transformer", torch_dtype=torch.bfloat16), load(folder / "transformer")


def checksum_of(transformer: FluxTransformer2DModel, shard_bytes: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("worker.engine.sync.shards.SHARD_BYTES", shard_bytes)
    weights = dict(transformer.named_parameters())
    return version_checksum([checksum({name: weights[name] for name in names}) for names in split_into_shards(weights)])


def start(ray_address: str, ingest: Ingest, tiny_checkpoint: str, store: Path, spec: RunSpec, **changes: Any) -> Driven:
    answer = bootstrap_answer(spec, tiny_checkpoint, store, **changes)
    return start_driver(ingest, answer, ray_address, ("tests.engine.ray.small_shards",))


@pytest.mark.parametrize(
    ("sections", "stage"),
    [
        pytest.param(
            {"pipeline": {"max_staleness": 1, "tag": "greedy"}}, "zero2", id="ahead and lending", marks=pytest.mark.slow
        ),
        pytest.param({"pipeline": {"placement": "colocated"}}, "zero3", id="colocated", marks=pytest.mark.slow),
    ],
)
def test_the_download_holds_the_weights_that_were_trained_and_pulled(
    ray_address: str,
    ingest: Ingest,
    tiny_checkpoint: str,
    tmp_path: Path,
    make_spec: Callable[..., RunSpec],
    monkeypatch: pytest.MonkeyPatch,
    sections: dict[str, Any],
    stage: str,
) -> None:
    from tests.engine.ray.small_shards import SHARD_BYTES

    spec = make_spec(
        tuning="full",
        base_model={"dtype": "bf16"},
        num_batches=NUM_BATCHES,
        deepspeed={"config": stage, "offload_idle_states": True},
        lanes=TWO_RANKS if "placement" not in sections["pipeline"] else {"num_rollout": 1, "num_trainer": 1},
        evaluation={"every_num_batches": None},
        checkpoint={"every_num_batches": 1},
        **sections,
    )
    driven = start(ray_address, ingest, tiny_checkpoint, tmp_path / "store", spec)
    try:
        assert driven.finish() == 0
    finally:
        driven.kill()
    assert driven.states() == ["running", "completed"]
    if "placement" in sections["pipeline"]:
        assert "switch" in kinds(driven, "trainer-0"), "the base is gathered before a lane generates"
    gates = ingest.of_type("gate")
    assert len(gates) == NUM_BATCHES and all(gate["passed"] for gate in gates)
    published = {event["policy_version"]: event for event in ingest.of_type("publish")}
    assert len({event["sha256"] for event in published.values()}) == len(published) == NUM_BATCHES + 1
    event, transformer, _ = downloaded(driven, tmp_path / "download")
    assert sum(file["path"].endswith(".safetensors") for file in event["files"]) > 2
    assert checksum_of(transformer, SHARD_BYTES, monkeypatch) == published[NUM_BATCHES]["sha256"]
    base = FluxTransformer2DModel.from_pretrained(tiny_checkpoint, subfolder="transformer", torch_dtype=torch.bfloat16)
    assert checksum_of(base, SHARD_BYTES, monkeypatch) == published[0]["sha256"]


@pytest.mark.slow
def test_a_resumed_run_has_bitwise_the_results_of_an_uninterrupted_one(
    ray_address: str, ingest: Ingest, tiny_checkpoint: str, tmp_path: Path, make_spec: Callable[..., RunSpec]
) -> None:
    spec = make_spec(
        tuning="full",
        num_batches=NUM_BATCHES,
        deepspeed={"config": "zero3"},
        pipeline={"deterministic": True, "max_staleness": 1},
        ema={"decay": 0.5, "every_num_optimizer_steps": 1},
        evaluation={"every_num_batches": None},
        checkpoint={"every_num_batches": 1},
    )
    published_by_run = []
    for changes in ({}, {"resume_from": f"file://{tmp_path}/first/batch-000001"}):
        store = tmp_path / ("second" if changes else "first")
        ingest.events.clear()
        driven = start(ray_address, ingest, tiny_checkpoint, store, spec, checkpoints=f"file://{store}", **changes)
        try:
            assert driven.finish() == 0
        finally:
            driven.kill()
        published_by_run.append({event["policy_version"]: event["sha256"] for event in ingest.of_type("publish")})
        kept = sorted(path.name for path in (store / "batch-000002").glob("behaviour-*"))
        assert len(kept) > 1, "the shards of the version that the next batch is generated with"
    uninterrupted, resumed = published_by_run
    assert resumed and resumed == {version: uninterrupted[version] for version in resumed}
    assert NUM_BATCHES in resumed
