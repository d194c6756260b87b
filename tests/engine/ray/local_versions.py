"""The versions and adapters that runs on Ray are compared with."""

from pathlib import Path

import torch
from safetensors.torch import load, load_file

from tests.engine.telemetry.ingest_server import Ingest
from tests.engine.trainer.gradient_recorder import relative_distance
from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun


def local_versions(spec: RunSpec, path: str, num_batches: int) -> dict[int, str]:
    """By number, the checksum of each version that an undisturbed run in one process trains."""
    local = LocalRun(spec, path)
    versions = {0: local.trainer.version(0).sha256}
    for number in range(1, num_batches + 1):
        local.train_batch()
        versions[number] = local.trainer.version(number).sha256
    return versions


def distance_from_local(ingest: Ingest, spec: RunSpec, path: str, folder: Path) -> float:
    """How far the adapter that a run of `spec` has sent is from that of the same run in one process, relative to it;
    `folder` is for the latter's files."""
    local = LocalRun(spec, path)
    for _ in range(spec.num_batches):
        local.train_batch()
    local.trainer.export(str(folder))
    expected = load_file(folder / "pytorch_lora_weights.safetensors")
    (event,) = ingest.of_type("adapter")
    found = load(ingest.artifacts[event["artifact"]])
    assert found.keys() == expected.keys()
    joined = [torch.cat([tensors[name].flatten().double() for name in expected]) for tensors in (found, expected)]
    return relative_distance(*joined)
