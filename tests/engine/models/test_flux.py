"""The FLUX adapter computes what the pipeline computes: schedule, embeddings, pictures."""

from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import EulerDiscreteScheduler, FlowMatchEulerDiscreteScheduler, FluxPipeline

from worker.contracts.names import ModelFamily
from worker.contracts.sections import BaseModelSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.flow_schedule import scheduled_sigmas
from worker.engine.models.registry import MODEL_ADAPTERS, load_model


@pytest.fixture(scope="module")
def model(tiny_checkpoint: str) -> ModelAdapter:
    return load_model(BaseModelSpec(), tiny_checkpoint)


def test_every_model_family_of_the_contracts_has_an_adapter() -> None:
    assert set(MODEL_ADAPTERS) == set(ModelFamily)
    assert all(adapter.family is name for name, adapter in MODEL_ADAPTERS.items())


@pytest.mark.parametrize("dynamic", [False, True])
def test_sigmas_are_the_ones_the_pipeline_steps_through(tiny_checkpoint: str, tmp_path: Path, dynamic: bool) -> None:
    pipeline = FluxPipeline.from_pretrained(tiny_checkpoint)
    pipeline.scheduler = FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=dynamic, shift=2.0)
    pipeline.save_pretrained(tmp_path)
    sigmas = load_model(BaseModelSpec(), str(tmp_path)).sigmas(7, height=32, width=32)
    pipeline.set_progress_bar_config(disable=True)
    pipeline(["a"], height=32, width=32, num_inference_steps=7, max_sequence_length=6, output_type="latent")
    assert torch.equal(sigmas, pipeline.scheduler.sigmas)
    assert sigmas.dtype is torch.float32 and len(sigmas) == 8


def test_a_prompt_is_encoded_once_and_kept(model: ModelAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    first = model.encode_prompt("a green triangle")
    monkeypatch.setattr(model, "_encode", lambda prompt: pytest.fail("encoded twice"))
    with torch.inference_mode():
        assert model.encode_prompt("a green triangle") is first
    assert all(not tensor.is_inference() and not tensor.requires_grad for tensor in first.values())


@pytest.mark.parametrize(("is_distilled", "num_tokens"), [(True, 256), (False, 512)])
def test_prompts_are_as_long_as_the_checkpoint_was_trained_with(
    tiny_checkpoint: str, is_distilled: bool, num_tokens: int
) -> None:
    """FLUX.1-schnell has no guidance embedding; the shapes model's tokenizer allows six tokens."""
    model = load_model(BaseModelSpec(), tiny_checkpoint)
    assert model.encode_prompt("a red square")["embeds"].shape[1] == 6
    model._pipeline.tokenizer_2.model_max_length = 512
    model.transformer.register_to_config(guidance_embeds=not is_distilled)
    assert model.encode_prompt("a blue circle")["embeds"].shape[1] == num_tokens


def test_prompts_are_told_apart(model: ModelAdapter) -> None:
    one, other = model.encode_prompt("a red square"), model.encode_prompt("a blue circle")
    assert not torch.equal(one["embeds"], other["embeds"])
    assert not torch.equal(one["pooled"], other["pooled"])


def test_decode_equals_the_pipelines_pictures(model: ModelAdapter, tiny_checkpoint: str) -> None:
    latents = torch.randn(3, *model.latent_shape(32, 32))
    pipeline = FluxPipeline.from_pretrained(tiny_checkpoint)
    unpacked = pipeline._unpack_latents(latents, 32, 32, pipeline.vae_scale_factor)
    scaled = unpacked / pipeline.vae.config.scaling_factor + pipeline.vae.config.shift_factor
    with torch.no_grad():
        decoded = pipeline.vae.decode(scaled).sample
    expected = [np.asarray(image) for image in pipeline.image_processor.postprocess(decoded, output_type="pil")]
    pictures = model.decode(latents, height=32, width=32)
    assert pictures.dtype == np.uint8 and pictures.shape == (3, 32, 32, 3)
    np.testing.assert_array_equal(pictures, np.stack(expected))


def test_everything_is_frozen(model: ModelAdapter) -> None:
    assert not any(parameter.requires_grad for parameter in model.transformer.parameters())


def test_a_guidance_scale_that_would_change_nothing_is_refused(model: ModelAdapter) -> None:
    conditioning = Conditioning(prompt=model.encode_prompt("a"), height=32, width=32, guidance_scale=3.5)
    with pytest.raises(ModelLoadError, match=r"guidance_scale` must be 1 for this model, got 3.5"):
        model.predict_velocity(torch.zeros(1, 16, 16), torch.ones(1), conditioning)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "transformer").mkdir()
    (tmp_path / "transformer" / "diffusion_pytorch_model.bin").touch()
    with pytest.raises(ModelLoadError, match=r"safetensors weights only, got transformer/diffusion_pytorch_model.bin"):
        load_model(BaseModelSpec(), str(tmp_path))


def test_a_folder_that_is_no_checkpoint_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="must be a flux checkpoint in diffusers layout"):
        load_model(BaseModelSpec(), str(tmp_path))


def test_bf16_predicts_in_fp32_close_to_fp32(model: ModelAdapter, tiny_checkpoint: str) -> None:
    half = load_model(BaseModelSpec(dtype="bf16"), tiny_checkpoint)
    latents, sigmas = torch.randn(2, 16, 16), torch.full((2,), 0.5)
    velocities = [
        one.predict_velocity(
            latents,
            sigmas,
            Conditioning(prompt=one.encode_prompt("a red square"), height=32, width=32, guidance_scale=1.0),
        )
        for one in (model, half)
    ]
    assert velocities[1].dtype is torch.float32
    assert float((velocities[0] - velocities[1]).norm() / velocities[0].norm()) < 0.05


def test_a_checkpoint_of_another_family_is_refused(tiny_checkpoint: str) -> None:
    with pytest.raises(ModelLoadError, match=r"got the one of StableDiffusion3Pipeline: .* is a FluxPipeline"):
        load_model(BaseModelSpec(family=ModelFamily.SD3), tiny_checkpoint)


def test_a_scheduler_of_another_kind_of_diffusion_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="must be one of flow matching, got EulerDiscreteScheduler: its sigmas"):
        scheduled_sigmas(EulerDiscreteScheduler(), 4, torch.device("cpu"))
