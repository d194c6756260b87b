"""A preview of a video model: clips of the base model and, from the same seeds, with what was trained."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKLHunyuanVideo, WanPipeline

from tests.engine.models.family_checks import load_family, with_random_lora
from worker.contracts.adapter_files import AdapterFile
from worker.contracts.names import ModelFamily
from worker.contracts.previews import PreviewJob
from worker.contracts.sections import SamplingSpec
from worker.engine import preview
from worker.engine.models.lora import lora_parameters
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint


def job_of(path: str, num_frames: int, *files: str) -> PreviewJob:
    return PreviewJob(
        id="1",
        token="t",
        base_model_path=path,
        family=ModelFamily.WAN22,
        dtype="fp32",
        device="cpu",
        sampling=SamplingSpec(num_eval_denoising_steps=2, num_frames=num_frames, guidance_scale=2.0),
        files=tuple(AdapterFile(path=file, sha256="a" * 64, num_bytes=1) for file in files),
        prompts=("a red square",),
        num_samples=1,
        seed=0,
    )


@pytest.mark.parametrize(("num_frames", "ending", "shape"), [(9, "webm", (9, 32, 32, 3)), (1, "png", (32, 32, 3))])
def test_clips_are_drawn_with_both_experts_adapters_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_frames: int, ending: str, shape: tuple[int, ...]
) -> None:
    path = str(build_tiny_checkpoint(ModelFamily.WAN22, tmp_path))
    model = with_random_lora(load_family(ModelFamily.WAN22, path))
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    job = job_of(path, num_frames, "pytorch_lora_weights.safetensors")
    monkeypatch.setattr(preview, "see_only", lambda device: None)  # this process is not the job's alone
    drawn = {str(name): sample for name, sample in preview.draw(job, tmp_path)}
    assert set(drawn) == {f"base-0-0.{ending}", f"lora-0-0.{ending}"}
    base, lora = drawn.values()
    assert base.shape == lora.shape == shape and base.dtype == np.uint8
    assert not np.array_equal(base, lora)


def test_components_stored_in_shards_replace_those_of_the_base_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(build_tiny_checkpoint(ModelFamily.WAN22, tmp_path))
    trained = WanPipeline.from_pretrained(path)
    with torch.no_grad():
        for weight in trained.transformer.parameters():
            weight.mul_(1.5)
    folder = tmp_path / "trained"
    trained.transformer.save_pretrained(folder / "transformer", max_shard_size="50KB")
    files = [str(file.relative_to(folder)) for file in folder.rglob("*.*")]
    assert len(files) > 3
    monkeypatch.setattr(preview, "see_only", lambda device: None)
    drawn = {str(name): sample for name, sample in preview.draw(job_of(path, 1, *files), folder)}
    expected = trained(
        prompt="a red square",
        height=32,
        width=32,
        num_frames=1,
        num_inference_steps=2,
        guidance_scale=2.0,
        negative_prompt="",
        generator=torch.Generator("cpu").manual_seed(0),
        output_type="np",
    )[0][0][0]
    assert np.array_equal(drawn["lora-0-0.png"], (expected * 255).round().astype(np.uint8))
    assert not np.array_equal(drawn["base-0-0.png"], drawn["lora-0-0.png"])


@pytest.mark.parametrize(("vae_tiling", "is_tiled"), [("auto", True), ("enabled", True), ("disabled", False)])
def test_previews_are_decoded_in_tiles_where_lanes_decode_in_tiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vae_tiling: str, is_tiled: bool
) -> None:
    path = str(build_tiny_checkpoint(ModelFamily.HUNYUAN_VIDEO, tmp_path))
    model = with_random_lora(load_family(ModelFamily.HUNYUAN_VIDEO, path))
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    job = job_of(path, 1, "pytorch_lora_weights.safetensors")
    sampling = SamplingSpec.model_validate(
        {"num_eval_denoising_steps": 2, "guidance_scale": 2.0, "vae_tiling": vae_tiling}
    )
    job = job.model_copy(update={"family": ModelFamily.HUNYUAN_VIDEO, "sampling": sampling})
    in_tiles: list[bool] = []
    decode = AutoencoderKLHunyuanVideo.decode

    def recording(self: AutoencoderKLHunyuanVideo, *args: Any, **arguments: Any) -> Any:
        in_tiles.append(self.use_tiling)
        return decode(self, *args, **arguments)

    monkeypatch.setattr(AutoencoderKLHunyuanVideo, "decode", recording)
    monkeypatch.setattr(preview, "see_only", lambda device: None)
    assert len(list(preview.draw(job, tmp_path))) == 2
    assert in_tiles == [is_tiled, is_tiled]
