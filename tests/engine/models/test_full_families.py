"""Full fine-tuning of every family in bf16: draw, train, publish and pull; diffusers loads the download."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffusers
import pytest
import ray
import torch

from tests.engine.fixed_trajectories import draw_groups
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.control.weight_files import transformer_files
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.models.experts import experts_of
from worker.engine.sync.shards import LoadedVersion
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import ShardInfo

FAMILIES = [
    # Wan2.2, with two experts and weights that stay in fp32, is always tested, the others in the full suite.
    pytest.param(family, marks=() if family is ModelFamily.WAN22 else pytest.mark.slow)
    for family in FAMILY_TRAITS
]
pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]


def full_spec(family: ModelFamily) -> Any:
    frames = FAMILY_TRAITS[family].frames_per_latent
    return run_spec_of(
        family,
        tuning="full",
        base_model={"family": family.value, "dtype": "bf16"},
        deepspeed={"config": "zero3"},
        optimizer={"learning_rate": 1e-2},
        sampling={"num_frames": 1 if frames is None else frames + 1},
    )


def remote(version: LoadedVersion) -> RemoteVersion:
    shard_infos = tuple(
        ShardInfo(names=tuple(shard.packed), num_bytes=shard.num_bytes, sha256=shard.sha256)
        for shard in version.shards()
    )
    refs = tuple(ray.put(shard) for shard in version.shards())
    return RemoteVersion(policy_version=version.policy_version, shard_infos=shard_infos, refs=refs)


def write_download(trainer: TrainerRank, version: LoadedVersion, folder: Path) -> None:
    """Write below `folder`/download what a user would download of `version`."""
    export = folder / "export"
    trainer.export(str(export))
    exported = {str(file.relative_to(export)): file.read_bytes() for file in export.rglob("*") if file.is_file()}
    for file in transformer_files(str(folder / "download"), remote(version), exported):
        path = Path(file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.read())


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_diffusers_loads_a_fully_fine_tuned_family_with_zero_difference(
    family: ModelFamily,
    checkpoint_of: CheckpointOf,
    tmp_path: Path,
    process_group: None,
    ray_address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("worker.engine.sync.shards.SHARD_BYTES", 2**14)
    spec, path = full_spec(family), checkpoint_of(family)
    trainer = trainer_rank(spec, path)
    groups = draw_groups(spec, path, trainer.version(0))
    stats = trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=True)
    check_replay_gate(stats, spec.replay_bounds)
    trainer.commit()
    version = trainer.version(1)
    sampler = load_sampler(spec, path)
    assert sampler.pull(version).sha256 == version.sha256
    write_download(trainer, version, tmp_path)

    live = sampler._model.transformer
    for prefix, expert in experts_of(live).items():
        folder = tmp_path / "download" / (prefix.removesuffix(".") or "transformer")
        index = json.loads((folder / "diffusion_pytorch_model.safetensors.index.json").read_text())
        assert set(index["weight_map"]) == set(expert.state_dict())
        load: Callable[..., torch.nn.Module] = getattr(diffusers, type(expert).__name__).from_pretrained
        loaded = load(folder, torch_dtype=torch.bfloat16)
        for name, tensor in loaded.state_dict().items():
            found = expert.state_dict()[name]
            assert found.dtype is tensor.dtype and torch.equal(found, tensor), name


@pytest.mark.slow
@pytest.mark.parametrize("family", [ModelFamily.QWEN_IMAGE, ModelFamily.Z_IMAGE, ModelFamily.WAN22], ids=str)
def test_with_guidance_and_recomputed_blocks_zero_3_takes_the_step_of_zero_0(
    family: ModelFamily, checkpoint_of: CheckpointOf, process_group: None
) -> None:
    """With true CFG, one backward pass uses every weight twice."""
    frames, path, found = FAMILY_TRAITS[family].frames_per_latent, checkpoint_of(family), []
    for config, every in (("zero0", 0), ("zero3", 1)):
        overrides = ["zero_optimization.stage3_param_persistence_threshold=0"] if config == "zero3" else []
        spec = run_spec_of(
            family,
            tuning="full",
            deepspeed={"config": config, "gradient_checkpointing": every, "overrides": overrides},
            sampling={"num_frames": 1 if frames is None else frames + 1, "guidance_scale": 3.0},
            algorithm={"kl_coefficient": 0.1},
            optimizer={"max_grad_norm": 1e9},
        )
        trainer = trainer_rank(spec, path)
        groups = draw_groups(spec, path, trainer.version(0))
        recorder = GradientRecorder(trainer)
        trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=True)
        trainer.commit()
        found.append(recorder.last)
    assert found[0].norm() > 0
    assert relative_distance(found[1], found[0]) < 1e-4
