"""Every family that makes clips, on its tiny checkpoint: it draws what diffusers draws, trains and exports."""

from typing import Any

import numpy as np
import pytest
import torch
from diffusers import DiffusionPipeline, FlowMatchEulerDiscreteScheduler, UniPCMultistepScheduler, WanPipeline

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.proofs import PROMPT, drawn_by_diffusers, drawn_here, loaded, noise_for, sampling_of
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.tiny_models.clips import build_wan22_ti2v

CLIP = {"num_frames": 9}
WITH_UNIPC = (ModelFamily.WAN, ModelFamily.WAN22)
TI2V = "wan22 ti2v"


@pytest.fixture(
    scope="module", params=[*(f for f, traits in FAMILY_TRAITS.items() if traits.makes_clips), TI2V], ids=str
)
def checkpoint(
    request: pytest.FixtureRequest, checkpoint_of: CheckpointOf, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ModelFamily, str]:
    if request.param != TI2V:
        return request.param, checkpoint_of(request.param)
    folder = tmp_path_factory.mktemp("ti2v")
    torch.manual_seed(0)
    build_wan22_ti2v().save_pretrained(folder)
    return ModelFamily.WAN22, str(folder)


@pytest.fixture(scope="module")
def with_euler(
    checkpoint: tuple[ModelFamily, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[ModelAdapter, Any]:
    """The model and the pipeline on a scheduler of first order."""
    family, path = checkpoint
    pipeline = DiffusionPipeline.from_pretrained(path)
    if family in WITH_UNIPC:
        pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
        path = str(tmp_path_factory.mktemp("euler"))
        pipeline.save_pretrained(path)
    return loaded(family, path), pipeline


def assert_equal_draws(model: ModelAdapter, pipeline: Any, sampling: SamplingSpec) -> None:
    ours = drawn_here(model, sampling)
    theirs = drawn_by_diffusers(pipeline, model, sampling, noise_for(model, sampling))
    assert torch.equal(ours.latents, theirs.latents)
    if sampling.num_frames == 1:
        assert ours.pictures.shape == (2, 32, 32, 3)
        theirs.pictures.shape = (2, 32, 32, 3)
    else:
        assert ours.pictures.shape == (2, 9, 32, 32, 3)
    # Decoded one by one here and together there.
    assert np.abs(ours.pictures.astype(int) - theirs.pictures.astype(int)).max() <= 1
    assert ours.pictures.std() > 1


def test_sampling_equals_the_pipeline(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    assert_equal_draws(model, pipeline, sampling_of(model.family, **CLIP))


def test_guided_sampling_equals_the_pipeline(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    guided = sampling_of(model.family, **CLIP, guidance_scale=3.0, negative_prompt="a blue circle")
    if model.guidance is GuidanceKind.EMBEDDED:
        guided = guided.model_copy(update={"negative_prompt": ""})
    assert_equal_draws(model, pipeline, guided)
    unguided = drawn_here(model, sampling_of(model.family, **CLIP))
    assert not torch.allclose(drawn_here(model, guided).latents, unguided.latents, atol=1e-2)


def test_one_frame_is_a_picture(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    assert_equal_draws(model, pipeline, sampling_of(model.family))


def test_prompts_change_the_clip(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, _ = with_euler
    sampling = sampling_of(model.family, **CLIP)
    sigmas = torch.tensor([0.7, 0.7])
    one, other = (
        model.predict_velocity(noise_for(model, sampling), sigmas, model.conditioning(prompt, sampling))
        for prompt in (PROMPT, "a blue circle")
    )
    assert float((one - other).norm() / one.norm()) > 1e-2


def test_the_published_scheduler_at_first_order_is_ours(checkpoint: tuple[ModelFamily, str]) -> None:
    family, path = checkpoint
    if family not in WITH_UNIPC:
        pytest.skip("its scheduler is of first order already")
    model, pipeline = loaded(family, path), WanPipeline.from_pretrained(path)
    sampling = sampling_of(family, **CLIP, num_eval_denoising_steps=7)
    pipeline.scheduler = UniPCMultistepScheduler.from_config(
        pipeline.scheduler.config, solver_order=1, disable_corrector=list(range(7))
    )
    ours = drawn_here(model, sampling)
    theirs = drawn_by_diffusers(pipeline, model, sampling, noise_for(model, sampling))
    assert torch.allclose(ours.latents, theirs.latents, atol=1e-4)


def test_sigmas_fall_from_1_to_0(checkpoint: tuple[ModelFamily, str]) -> None:
    sigmas = loaded(*checkpoint).sigmas(7, height=32, width=32, num_frames=9)
    assert (len(sigmas), sigmas.dtype) == (8, torch.float32)
    assert (float(sigmas[0]), float(sigmas[-1])) == (1.0, 0.0)
    assert bool((sigmas.diff() < 0).all())


@pytest.mark.parametrize(("num_frames", "nearest"), [(8, "5 or 9"), (10, "9 or 13"), (2, "1 or 5")])
def test_a_length_that_cannot_be_made_is_refused_with_the_nearest(
    checkpoint: tuple[ModelFamily, str], num_frames: int, nearest: str
) -> None:
    with pytest.raises(
        ModelLoadError, match=rf"num_frames` must be a multiple of 4 plus 1 .* got {num_frames}: take {nearest}"
    ):
        loaded(*checkpoint).latent_shape(32, 32, num_frames)


def test_a_checkpoint_with_two_experts_is_no_wan_2_1(checkpoint_of: CheckpointOf) -> None:
    with pytest.raises(ModelLoadError, match="must be wan22 for a checkpoint with two transformers, got wan"):
        loaded(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN22))
