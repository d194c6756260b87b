"""Every family that makes clips, on its tiny checkpoint: it draws what diffusers draws, trains and exports."""

import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import torch
from diffusers import DiffusionPipeline, FlowMatchEulerDiscreteScheduler, UniPCMultistepScheduler, WanPipeline

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import (
    CLIP,
    LORA,
    PROMPT,
    SIZE,
    assert_equal_draws,
    draw_with_adapter,
    draw_with_pipeline,
    load_family,
    noise_for,
    rounding_of,
    run_one_batch,
    run_spec_of,
    sampling_of,
    with_random_lora,
)
from tests.engine.sharing_embeddings import load_sampler
from tests.engine.stored_lora import LORA_FILE, read_lora
from tests.slow_params import slow_but
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.sections import LoraSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import add_lora, lora_parameters
from worker.engine.models.pipeline_loading import Part
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.models.wan import WanAdapter
from worker.engine.reward.scorer import Scorer
from worker.engine.sync.packing import pack
from worker.engine.telemetry.media import encode_clip
from worker.engine.types import GenerationRequest
from worker.fixtures.tiny_models.clip_pipelines import build_wan22_ti2v
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

EXACT = {"rtol": 0.0, "atol": 0.0}
WITH_UNIPC = (ModelFamily.WAN, ModelFamily.WAN22)
TI2V = "wan22 ti2v"
GUIDED = {"guidance_scale": 3.0, "batched_cfg": True}
KINDS = (*(family for family, traits in FAMILY_TRAITS.items() if traits.makes_clips), TI2V)


@pytest.fixture(scope="module", params=KINDS, ids=str)
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
def model(checkpoint: tuple[ModelFamily, str]) -> ModelAdapter:
    return load_family(*checkpoint)


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
    return load_family(family, path), pipeline


def test_sampling_equals_the_pipeline(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    assert_equal_draws(model, pipeline, sampling_of(model.family, **CLIP))


def test_guided_sampling_equals_the_pipeline(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    guided = sampling_of(model.family, **CLIP, guidance_scale=3.0, negative_prompt="a blue circle")
    if model.guidance is GuidanceKind.EMBEDDED:
        guided = guided.model_copy(update={"negative_prompt": ""})
    assert_equal_draws(model, pipeline, guided)
    unguided = draw_with_adapter(model, sampling_of(model.family, **CLIP))
    assert not torch.allclose(draw_with_adapter(model, guided).latents, unguided.latents, atol=1e-2)


@pytest.mark.parametrize("num_denoising_steps", [26, 47, 49])
def test_integer_timesteps_are_floored_as_the_scheduler_floors_them(
    checkpoint_of: CheckpointOf, num_denoising_steps: int
) -> None:
    """With these numbers, some float64 timestep lies just below an integer, to which fp32 rounds it up."""
    model = load_family(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN))
    assert isinstance(model, WanAdapter)
    for shift in (3.0, 5.0):
        scheduler = UniPCMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=shift)
        model._pipeline.scheduler, model._registered = scheduler, set()
        sampling = sampling_of(ModelFamily.WAN, num_eval_denoising_steps=num_denoising_steps)
        model.conditioning(Prompt(text=PROMPT), sampling)
        sigmas = model.sigmas(num_denoising_steps, **SIZE)
        assert torch.equal(model._timesteps(sigmas[:-1]).long(), scheduler.timesteps)


def test_one_frame_is_a_picture(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, pipeline = with_euler
    assert_equal_draws(model, pipeline, sampling_of(model.family))


def test_a_fragment_too_large_to_decode_at_once_is_decoded_in_even_parts(
    model: ModelAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = {"height": 32, "width": 32, "num_frames": 9}
    latents = torch.randn(4, *model.latent_shape(**size))
    expected = np.concatenate([model.decode(part, **size) for part in latents.split(2)])
    monkeypatch.setattr("worker.scheduling.core.decoding.MAX_PIXELS_DECODED_TOGETHER", 3 * 32 * 32 * 9)
    assert np.array_equal(model.decode(latents, **size), expected)


def test_prompts_change_the_clip(with_euler: tuple[ModelAdapter, Any]) -> None:
    model, _ = with_euler
    sampling = sampling_of(model.family, **CLIP)
    sigmas = torch.tensor([0.7, 0.7])
    one, other = (
        model.predict_velocity(noise_for(model, sampling), sigmas, model.conditioning(Prompt(text=prompt), sampling))
        for prompt in (PROMPT, "a blue circle")
    )
    assert float((one - other).norm() / one.norm()) > 1e-2


@pytest.mark.parametrize("checkpoint", [*WITH_UNIPC, TI2V], indirect=True, ids=str)
def test_the_published_scheduler_at_first_order_draws_the_same(checkpoint: tuple[ModelFamily, str]) -> None:
    family, path = checkpoint
    model, pipeline = load_family(family, path), WanPipeline.from_pretrained(path)
    sampling = sampling_of(family, **CLIP, num_eval_denoising_steps=7)
    pipeline.scheduler = UniPCMultistepScheduler.from_config(
        pipeline.scheduler.config, solver_order=1, disable_corrector=list(range(7))
    )
    ours = draw_with_adapter(model, sampling)
    theirs = draw_with_pipeline(pipeline, model, sampling, noise_for(model, sampling))
    assert torch.allclose(ours.latents, theirs.latents, atol=1e-4)


def test_sigmas_fall_from_1_to_0(model: ModelAdapter) -> None:
    sigmas = model.sigmas(7, **SIZE, **CLIP)
    assert (len(sigmas), sigmas.dtype) == (8, torch.float32)
    assert (float(sigmas[0]), float(sigmas[-1])) == (1.0, 0.0)
    assert bool((sigmas.diff() < 0).all())


@pytest.mark.parametrize(("num_frames", "nearest"), [(8, "5 or 9"), (10, "9 or 13"), (2, "1 or 5")])
def test_a_length_that_cannot_be_made_is_refused_with_the_nearest(
    model: ModelAdapter, num_frames: int, nearest: str
) -> None:
    with pytest.raises(
        ModelLoadError, match=rf"num_frames` must be a multiple of 4 plus 1 .* got {num_frames}: take {nearest}"
    ):
        model.latent_shape(32, 32, num_frames)


@pytest.mark.parametrize(
    ("checkpoint", "guidance"),
    slow_but(
        [(ModelFamily.HUNYUAN_VIDEO, {}), (ModelFamily.WAN22, GUIDED)],
        [(kind, {}) for kind in KINDS] + [(kind, GUIDED) for kind in (*WITH_UNIPC, TI2V)],
    ),
    indirect=["checkpoint"],
)
def test_an_exported_lora_draws_the_same_in_the_plain_pipeline(
    with_euler: tuple[ModelAdapter, Any], tmp_path: Path, guidance: dict[str, Any]
) -> None:
    family, path = with_euler[0].family, with_euler[0]._path
    sampling = sampling_of(family, **CLIP, **guidance)
    model, pipeline = with_random_lora(load_family(family, path)), DiffusionPipeline.from_pretrained(path)
    noise = noise_for(model, sampling)
    before = draw_with_pipeline(pipeline, model, sampling, noise)
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    model.load_lora(pipeline, tmp_path / LORA_FILE)
    ours, theirs = draw_with_adapter(model, sampling), draw_with_pipeline(pipeline, model, sampling, noise)
    exact = {"rtol": 0.0, "atol": rounding_of(family)}
    torch.testing.assert_close(ours.latents, theirs.latents, **({"rtol": 1e-4, "atol": 1e-4} if guidance else exact))
    assert not torch.allclose(ours.latents, before.latents, atol=1e-2)


def test_an_exported_lora_holds_every_trained_tensor_bit_for_bit(
    with_euler: tuple[ModelAdapter, Any], tmp_path: Path
) -> None:
    model = with_random_lora(load_family(with_euler[0].family, with_euler[0]._path))
    own = lora_parameters(model.transformer)
    model.save_lora(str(tmp_path), own)
    stored = read_lora(tmp_path, LORA)
    assert set(stored.tensors) == set(own)
    assert all(torch.equal(stored.tensors[name], own[name]) for name in own)


@pytest.mark.parametrize(
    "checkpoint", slow_but([ModelFamily.HUNYUAN_VIDEO, ModelFamily.WAN22], KINDS), indirect=True, ids=str
)
def test_a_batch_is_drawn_trained_published_and_pulled_at_replay_ratio_one(
    process_group: None, checkpoint: tuple[ModelFamily, str]
) -> None:
    family, path = checkpoint
    spec = run_spec_of(family, sampling={**CLIP, "guidance_scale": 2.0})
    stats, receipt, published = run_one_batch(spec, path)
    assert stats.maxima["replay_ratio_deviation"] < 1e-5 and stats.maxima["mean_error"] < 1e-4
    assert receipt.sha256 == published.sha256 and receipt.num_bound_tensors == len(published.tensors)


def test_a_fragment_becomes_scored_clips_that_play(checkpoint: tuple[ModelFamily, str]) -> None:
    family, path = checkpoint
    spec = run_spec_of(family, sampling=CLIP, rewards=[{"name": "motion_smoothness"}])
    sampler = load_sampler(spec, path)
    sampler.pull(pack(lora_parameters(sampler._model.transformer), 0))
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0)
    made = sampler.generate(
        GenerationRequest(fragment=fragment, prompt=Prompt(text=PROMPT), run_seed=1, prompt_index=0)
    )
    assert made.images.shape == (2, 9, 32, 48, 3) and made.trajectories is not None
    scored = Scorer(spec.rewards).score(fragment, Prompt(text=PROMPT), made.images)
    assert len(set(scored.rewards)) == 2
    with av.open(io.BytesIO(encode_clip(made.images[0], spec.sampling.fps)), "r") as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 9
    # Random weights draw noise, of which the codec keeps only low frequencies.
    decoded, drawn = (
        clip.reshape(9, 16, 2, 24, 2, 3).mean((2, 4)).ravel() for clip in (np.stack(frames), made.images[0])
    )
    assert np.corrcoef(decoded, drawn)[0, 1] > 0.9


def test_a_target_that_fits_nothing_is_refused_with_what_exists(checkpoint: tuple[ModelFamily, str]) -> None:
    transformer = load_family(*checkpoint, parts=frozenset({Part.TRANSFORMER})).transformer
    with pytest.raises(ModelLoadError, match=r"got 'attn.nowhere', which matches none: choose among .*to_q"):
        add_lora(transformer, LoraSpec(targets=("attn.nowhere",)), (), seed=0)


def test_a_lane_with_embeddings_needs_neither_text_encoders_nor_autoencoder(
    checkpoint: tuple[ModelFamily, str], model: ModelAdapter
) -> None:
    family, path = checkpoint
    embeddings = run_embeddings(run_spec_of(family), path, parse_prompts((PROMPT,)))
    lean = load_family(family, path, parts=frozenset({Part.TRANSFORMER}), embeddings=embeddings)
    sampling = sampling_of(family, **CLIP, guidance_scale=3.0)
    noise, sigma = noise_for(model, sampling), torch.full((2,), 0.7)
    predicted, expected = (
        each.predict_velocity(noise, sigma, each.conditioning(Prompt(text=PROMPT), sampling)) for each in (lean, model)
    )
    assert torch.equal(predicted, expected)
    with pytest.raises(ModelLoadError, match="autoencoder was not loaded"):
        lean.decode(noise, **SIZE, **CLIP)


def test_the_traits_in_the_contracts_are_the_checkpoints_own(model: ModelAdapter) -> None:
    traits = FAMILY_TRAITS[model.family]
    assert model.guidance is traits.guidance
    assert model._pipeline.vae_scale_factor_temporal == traits.frames_per_latent


@pytest.mark.slow
@pytest.mark.parametrize("config", ["zero2", "zero3"])
def test_clip_families_train_with_sharded_weights_and_recomputed_blocks(
    process_group: None, checkpoint: tuple[ModelFamily, str], config: str
) -> None:
    family, path = checkpoint
    spec = run_spec_of(family, sampling=CLIP, deepspeed={"config": config, "gradient_checkpointing": 1})
    stats, receipt, published = run_one_batch(spec, path)
    assert stats.maxima["replay_ratio_deviation"] < 1e-5
    assert receipt.num_bound_tensors == len(published.tensors)
