"""Decoding in tiles: what diffusers' own pipeline draws with `enable_tiling`, wherever samples are decoded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, AutoencoderKLHunyuanVideo, DiffusionPipeline, FlowMatchEulerDiscreteScheduler

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import (
    CLIP,
    draw_with_adapter,
    draw_with_pipeline,
    load_family,
    pipeline_noise,
    rounding_of,
    sampling_of,
)
from tests.slow_params import slow_but
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily, VaeTiling
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.local import LocalRun
from worker.engine.models.base import ModelAdapter
from worker.fixtures.tiny_models.clip_pipelines import build_wan22_ti2v

TI2V = "wan22 ti2v"
SHAPES = str(Path(__file__).parents[3] / "deploy" / "models" / "shapes")


QUICK = (ModelFamily.FLUX, ModelFamily.QWEN_IMAGE, ModelFamily.WAN, ModelFamily.HUNYUAN_VIDEO)
"""One of each kind of autoencoder."""


@pytest.fixture(scope="module", params=slow_but(QUICK, (*ModelFamily, TI2V)), ids=str)
def checkpoint(
    request: pytest.FixtureRequest, checkpoint_of: CheckpointOf, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ModelFamily, str]:
    """A tiny checkpoint whose scheduler is of first order, as the adapter's steps are."""
    if request.param not in (ModelFamily.WAN, ModelFamily.WAN22, TI2V):
        return request.param, checkpoint_of(request.param)
    torch.manual_seed(0)
    is_ti2v = request.param == TI2V
    pipeline: Any = build_wan22_ti2v() if is_ti2v else DiffusionPipeline.from_pretrained(checkpoint_of(request.param))
    pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
    folder = tmp_path_factory.mktemp("first-order")
    pipeline.save_pretrained(folder)
    return ModelFamily.WAN22 if is_ti2v else request.param, str(folder)


def sampling(family: ModelFamily, vae_tiling: VaeTiling) -> SamplingSpec:
    clip = CLIP if FAMILY_TRAITS[family].makes_clips else {}
    return sampling_of(family, **clip, vae_tiling=vae_tiling)


def with_small_tiles(vae: Any) -> None:
    """Tiles of 2 × 2 latents, which the tests' samples are larger than. Autoencoders of pictures have tiles that are
    small enough from their configuration."""
    if not isinstance(getattr(vae, "tile_sample_min_size", None), int):
        side = 2 * vae.spatial_compression_ratio
        vae.tile_sample_min_height = vae.tile_sample_min_width = side
        vae.tile_sample_stride_height = vae.tile_sample_stride_width = side // 2


def load(checkpoint: tuple[ModelFamily, str], vae_tiling: VaeTiling) -> ModelAdapter:
    family, path = checkpoint
    model = load_family(family, path, sampling=sampling(family, vae_tiling))
    with_small_tiles(model._pipeline.vae)
    return model


def test_samples_in_tiles_are_those_of_diffusers_and_not_whole_ones(checkpoint: tuple[ModelFamily, str]) -> None:
    family, path = checkpoint
    model, wanted = load(checkpoint, VaeTiling.ENABLED), sampling(family, VaeTiling.ENABLED)
    pipeline = DiffusionPipeline.from_pretrained(path)
    # Frozen as the adapter's: torch orders products by a weight that requires gradients differently.
    pipeline.vae.requires_grad_(False)
    with_small_tiles(pipeline.vae)
    pipeline.vae.enable_tiling()
    ours = draw_with_adapter(model, wanted)
    theirs = draw_with_pipeline(pipeline, model, wanted, pipeline_noise(model, wanted))
    np.testing.assert_allclose(
        ours.pictures, theirs.pictures.reshape(ours.pictures.shape), rtol=0, atol=1 if rounding_of(family) else 0
    )
    whole = draw_with_adapter(load(checkpoint, VaeTiling.DISABLED), wanted)
    assert torch.equal(ours.latents, whole.latents), "only decoding differs"
    assert ours.pictures.shape == whole.pictures.shape and not np.array_equal(ours.pictures, whole.pictures)


@pytest.mark.parametrize(
    "checkpoint", slow_but([ModelFamily.FLUX, ModelFamily.HUNYUAN_VIDEO], (*ModelFamily, TI2V)), indirect=True, ids=str
)
def test_a_gradient_through_tiles_is_that_of_the_pixels(checkpoint: tuple[ModelFamily, str]) -> None:
    """Reward feedback trains through the decoder, whose tiles are blended in place."""
    family, _ = checkpoint
    model, wanted = load(checkpoint, VaeTiling.ENABLED), sampling(family, VaeTiling.ENABLED)
    model._pipeline.vae.to(torch.float64)
    generator = torch.Generator().manual_seed(3)
    shape = model.latent_shape(wanted.height, wanted.width, wanted.num_frames)
    latents, direction = (torch.randn(1, *shape, generator=generator, dtype=torch.float64) for _ in range(2))

    def reward(latents: torch.Tensor) -> torch.Tensor:
        pixels = model.pixels(latents, height=wanted.height, width=wanted.width, num_frames=wanted.num_frames)
        return pixels.double().square().mean()

    (gradient,) = torch.autograd.grad(reward(latents.requires_grad_()), latents)
    step = 1e-4
    with torch.no_grad():
        slope = (reward(latents + step * direction) - reward(latents - step * direction)) / (2 * step)
    assert float(gradient.abs().max()) > 0
    # Pixels are rounded to fp32.
    torch.testing.assert_close((gradient * direction).sum(), slope, rtol=0.02, atol=1e-6)


def test_where_the_spec_leaves_it_open_only_hunyuan_video_decodes_in_tiles(checkpoint_of: CheckpointOf) -> None:
    for family in ModelFamily:
        vae = load_family(family, checkpoint_of(family))._pipeline.vae
        assert vae.use_tiling is (family is ModelFamily.HUNYUAN_VIDEO)
    whole = load_family(
        ModelFamily.HUNYUAN_VIDEO,
        checkpoint_of(ModelFamily.HUNYUAN_VIDEO),
        sampling=sampling(ModelFamily.HUNYUAN_VIDEO, VaeTiling.DISABLED),
    )
    assert isinstance(whole._pipeline.vae, AutoencoderKLHunyuanVideo) and not whole._pipeline.vae.use_tiling


@pytest.mark.parametrize(
    "family",
    slow_but([ModelFamily.QWEN_IMAGE], [ModelFamily.WAN, ModelFamily.HUNYUAN_VIDEO, ModelFamily.QWEN_IMAGE]),
    ids=str,
)
def test_tiles_are_as_large_as_diffusers_makes_them(family: ModelFamily, checkpoint_of: CheckpointOf) -> None:
    model = load_family(family, checkpoint_of(family), sampling=sampling_of(family, vae_tiling=VaeTiling.ENABLED))

    def decoded(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
        shape = model.latent_shape(height, width)
        latents = torch.randn(1, *shape, generator=torch.Generator().manual_seed(1))
        model._pipeline.vae.enable_tiling()
        tiled = model.decode(latents, height=height, width=width)
        model._pipeline.vae.disable_tiling()
        return tiled, model.decode(latents, height=height, width=width)

    assert np.array_equal(*decoded(256, 256)), "one tile is the whole sample"
    assert not np.array_equal(*decoded(256, 288))


@pytest.mark.parametrize("vae_tiling", slow_but([VaeTiling.ENABLED, VaeTiling.AUTO], VaeTiling))
def test_rollout_evaluation_and_feedback_decode_as_the_spec_says(
    process_group: None, monkeypatch: pytest.MonkeyPatch, vae_tiling: VaeTiling
) -> None:
    in_tiles: list[bool] = []
    decode = AutoencoderKL.decode

    def recording(self: AutoencoderKL, *args: Any, **arguments: Any) -> Any:
        in_tiles.append(self.use_tiling)
        return decode(self, *args, **arguments)

    monkeypatch.setattr(AutoencoderKL, "decode", recording)
    run = LocalRun(
        RunSpec.model_validate(
            {
                "prompts": {"inline": ["a red square"]},
                "rewards": [{"name": "shape_match"}],
                "algorithm": {"name": "refl", "num_late_steps": 1},
                "sampling": {"num_denoising_steps": 3, "num_eval_denoising_steps": 2, "vae_tiling": vae_tiling.value},
                "batch": {"num_prompts_per_batch": 1, "group_size": 2, "micro_batch_size": 2},
            }
        ),
        SHAPES,
    )
    run.train_batch()
    in_training = len(in_tiles)
    assert in_training >= 2, "samples, and the trainer's own for the reward's gradient"
    run.evaluate()
    assert len(in_tiles) > in_training
    assert set(in_tiles) == {vae_tiling is VaeTiling.ENABLED}
