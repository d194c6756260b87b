"""Every family that makes pictures, on its tiny checkpoint: it draws what diffusers draws, to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import DiffusionPipeline, FlowMatchEulerDiscreteScheduler

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import (
    IN_ONE_PASS,
    LORA,
    PROMPT,
    SIZE,
    Drawn,
    draw_with_adapter,
    draw_with_pipeline,
    load_family,
    noise_for,
    pipeline_noise,
    run_one_batch,
    run_spec_of,
    sampling_of,
    with_random_lora,
)
from tests.engine.stored_lora import LORA_FILE
from tests.slow_params import slow_but
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.sections import BaseModelSpec, LoraSpec, SamplingSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import joined
from worker.engine.models.lora import add_lora, lora_parameters
from worker.engine.models.pipeline_loading import Part
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.models.registry import load_model

FAMILIES = [family for family, traits in FAMILY_TRAITS.items() if not traits.makes_clips]
QUICK = [family for family in FAMILIES if family is not ModelFamily.FLUX2_KLEIN]
"""Without the family that has the transformer of another one: its own pipeline is compared below."""
WITH_NEGATIVE_PROMPT = [family for family in FAMILIES if FAMILY_TRAITS[family].takes_negative_prompt]


@pytest.fixture(scope="module", params=slow_but(QUICK, FAMILIES), ids=str)
def family(request: pytest.FixtureRequest) -> ModelFamily:
    chosen: ModelFamily = request.param
    return chosen


@pytest.fixture(scope="module")
def model(family: ModelFamily, checkpoint_of: CheckpointOf) -> ModelAdapter:
    return load_family(family, checkpoint_of(family))


@pytest.fixture(scope="module")
def pipeline(family: ModelFamily, checkpoint_of: CheckpointOf) -> Any:
    return DiffusionPipeline.from_pretrained(checkpoint_of(family))


def draw_with_diffusers(pipeline: Any, model: ModelAdapter, sampling: SamplingSpec) -> Drawn:
    return draw_with_pipeline(pipeline, model, sampling, pipeline_noise(model, sampling))


@pytest.fixture(params=[False, True], ids=["unguided", "guided"])
def sampling(request: pytest.FixtureRequest, family: ModelFamily) -> SamplingSpec:
    guided = {"guidance_scale": 3.0, "batched_cfg": family in IN_ONE_PASS}
    return sampling_of(family, **(guided if request.param else {}))


def test_sampling_equals_the_pipeline(model: ModelAdapter, pipeline: Any, sampling: SamplingSpec) -> None:
    ours, theirs = draw_with_adapter(model, sampling), draw_with_diffusers(pipeline, model, sampling)
    assert torch.equal(ours.latents, theirs.latents)
    np.testing.assert_array_equal(ours.pictures, theirs.pictures)
    assert ours.pictures.shape == (2, 32, 48, 3) and ours.pictures.std() > 1


def test_samples_of_several_prompts_in_one_pass_are_those_of_passes_of_their_own(
    model: ModelAdapter, sampling: SamplingSpec
) -> None:
    prompts = [Prompt(text="a red square"), Prompt(text="a red circle")]
    alone = [model.conditioning(prompt, sampling) for prompt in prompts]
    latents, sigmas = noise_for(model, sampling), torch.tensor([0.7, 0.7])
    together = joined(alone, [1, 1])
    assert together is not None, "both prompts have equally many tokens"
    expected = torch.cat(
        [model.predict_velocity(latents[row : row + 1], sigmas[:1], each) for row, each in enumerate(alone)]
    )
    assert not torch.allclose(expected[0], model.predict_velocity(latents, sigmas, alone[1])[0])
    torch.testing.assert_close(model.predict_velocity(latents, sigmas, together), expected, rtol=1e-4, atol=1e-5)


SCHEDULES = {
    "SD3.5, Z-Image-Turbo": {"shift": 3.0},
    "FLUX.1, FLUX.2": {"shift": 3.0, "use_dynamic_shifting": True, "max_shift": 1.15},
    "Qwen-Image": {
        "use_dynamic_shifting": True,
        "max_shift": 0.9,
        "max_image_seq_len": 8192,
        "shift_terminal": 0.02,
        "time_shift_type": "exponential",
    },
    "linear in the exponent": {"use_dynamic_shifting": True, "time_shift_type": "linear"},
}
"""The scheduler configs of published checkpoints; every adapter must support each of them."""


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_the_schedule_is_the_checkpoints(
    family: ModelFamily, model: ModelAdapter, pipeline: Any, schedule: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (model._pipeline, pipeline):
        monkeypatch.setattr(one, "scheduler", FlowMatchEulerDiscreteScheduler(**schedule))
    sampling = sampling_of(family, num_eval_denoising_steps=5)
    assert torch.equal(
        draw_with_adapter(model, sampling).latents, draw_with_diffusers(pipeline, model, sampling).latents
    )
    sigmas = model.sigmas(5, **SIZE)
    assert torch.equal(sigmas, pipeline.scheduler.sigmas)
    assert (len(sigmas), float(sigmas[0]), float(sigmas[-1])) == (6, 1.0, 0.0)


def test_a_distilled_klein_is_drawn_without_guidance(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(ModelFamily.FLUX2_KLEIN))
    pipeline.register_to_config(is_distilled=True)
    pipeline.save_pretrained(tmp_path)
    model, sampling = load_family(ModelFamily.FLUX2_KLEIN, str(tmp_path)), sampling_of(ModelFamily.FLUX2_KLEIN)
    assert torch.equal(
        draw_with_adapter(model, sampling).latents, draw_with_diffusers(pipeline, model, sampling).latents
    )
    with pytest.raises(ModelLoadError, match=r"`sampling.guidance_scale` must be 1 for this model, got 4.0"):
        model.conditioning(Prompt(text=PROMPT), sampling_of(ModelFamily.FLUX2_KLEIN, guidance_scale=4.0))


def test_bf16_draws_what_the_pipeline_draws_in_bf16(family: ModelFamily, checkpoint_of: CheckpointOf) -> None:
    """The adapter keeps latents and timesteps in fp32 between denoising steps, where the pipeline rounds them to bf16,
    so the results are close and not equal."""
    model = load_model(BaseModelSpec(family=family, dtype="bf16"), checkpoint_of(family))
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(family), dtype=torch.bfloat16)
    sampling = sampling_of(family, guidance_scale=3.5, batched_cfg=family in IN_ONE_PASS)
    noise = pipeline_noise(model, sampling)
    noise = noise if family is ModelFamily.Z_IMAGE else noise.bfloat16()
    ours, theirs = draw_with_adapter(model, sampling), draw_with_pipeline(pipeline, model, sampling, noise)
    assert (ours.latents - theirs.latents).norm() < 0.08 * ours.latents.norm()


def test_an_exported_lora_draws_the_same_in_the_plain_pipeline(
    family: ModelFamily, checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    sampling = sampling_of(family, guidance_scale=3.0, batched_cfg=family in IN_ONE_PASS)
    model = with_random_lora(load_family(family, checkpoint_of(family)))
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(family))
    before = draw_with_diffusers(pipeline, model, sampling)
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    model.load_lora(pipeline, tmp_path / LORA_FILE)
    ours, theirs = draw_with_adapter(model, sampling), draw_with_diffusers(pipeline, model, sampling)
    assert torch.equal(ours.latents, theirs.latents)
    assert not torch.allclose(ours.latents, before.latents, atol=1e-2)


def test_guidance_steers_and_one_pass_means_the_same_as_two(family: ModelFamily, model: ModelAdapter) -> None:
    plain, guided, batched = (
        draw_with_adapter(model, sampling_of(family, **changes)).latents
        for changes in ({}, {"guidance_scale": 3.0}, {"guidance_scale": 3.0, "batched_cfg": True})
    )
    assert not torch.allclose(plain, guided, atol=1e-2)
    torch.testing.assert_close(guided, batched, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", WITH_NEGATIVE_PROMPT, indirect=True, ids=str)
def test_a_negative_prompt_is_steered_away_from(family: ModelFamily, model: ModelAdapter, pipeline: Any) -> None:
    sampling = sampling_of(
        family, guidance_scale=3.0, negative_prompt="a blue circle", batched_cfg=family in IN_ONE_PASS
    )
    ours = draw_with_adapter(model, sampling).latents
    assert torch.equal(ours, draw_with_diffusers(pipeline, model, sampling).latents)
    assert not torch.allclose(
        ours, draw_with_adapter(model, sampling_of(family, guidance_scale=3.0)).latents, atol=1e-3
    )


@pytest.mark.parametrize("family", WITH_NEGATIVE_PROMPT, indirect=True, ids=str)
def test_a_prompts_own_negative_prompt_takes_the_place_of_the_runs(family: ModelFamily, model: ModelAdapter) -> None:
    of_run = sampling_of(family, guidance_scale=3.0, negative_prompt="a blue circle")
    of_prompt = sampling_of(family, guidance_scale=3.0, negative_prompt="a green triangle")
    by_run = model.conditioning(Prompt(text=PROMPT), of_run).negative
    by_prompt = model.conditioning(Prompt(text=PROMPT, negative="a blue circle"), of_prompt).negative
    assert by_run is not None and by_prompt is not None
    assert all(torch.equal(by_run[name], by_prompt[name]) for name in by_run)


def test_the_traits_in_the_contracts_are_the_checkpoints_own(family: ModelFamily, model: ModelAdapter) -> None:
    assert model.guidance is FAMILY_TRAITS[family].guidance


@pytest.mark.parametrize(
    "guidance",
    [
        {"guidance_scale": 3.0},
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"guidance_scale": 3.0, "train_guidance_scale": 1.0}, marks=pytest.mark.slow),
    ],
    ids=["guided", "unguided", "guided in sampling alone"],
)
def test_a_batch_is_drawn_trained_published_and_pulled_at_replay_ratio_one(
    process_group: None, family: ModelFamily, checkpoint_of: CheckpointOf, guidance: dict[str, float]
) -> None:
    spec = run_spec_of(family, sampling=guidance)
    stats, receipt, published = run_one_batch(spec, checkpoint_of(family))
    assert stats.maxima["replay_ratio_deviation"] < 1e-5 and stats.maxima["mean_error"] < 1e-4
    assert receipt.sha256 == published.sha256 and receipt.num_bound_tensors == len(published.tensors)


def test_a_target_that_fits_nothing_is_refused_with_what_exists(
    family: ModelFamily, checkpoint_of: CheckpointOf
) -> None:
    transformer = load_family(family, checkpoint_of(family), parts=frozenset({Part.TRANSFORMER})).transformer
    with pytest.raises(ModelLoadError, match=r"got 'attn.nowhere', which matches none: choose among .*to_q"):
        add_lora(transformer, LoraSpec(targets=("attn.nowhere",)), (), seed=0)


def test_a_lane_with_embeddings_needs_neither_text_encoders_nor_autoencoder(
    family: ModelFamily, model: ModelAdapter, checkpoint_of: CheckpointOf
) -> None:
    path = checkpoint_of(family)
    embeddings = run_embeddings(run_spec_of(family), path, parse_prompts((PROMPT,)))
    lean = load_family(family, path, parts=frozenset({Part.TRANSFORMER}), embeddings=embeddings)
    sampling = sampling_of(family, guidance_scale=3.0)
    noise, sigma = noise_for(model, sampling), torch.full((2,), 0.7)
    predicted, expected = (
        each.predict_velocity(noise, sigma, each.conditioning(Prompt(text=PROMPT), sampling)) for each in (lean, model)
    )
    assert torch.equal(predicted, expected)
    assert torch.equal(lean.sigmas(5, **SIZE), model.sigmas(5, **SIZE))
    with pytest.raises(ModelLoadError, match="autoencoder was not loaded"):
        lean.decode(noise, **SIZE)


def test_a_prompt_that_was_not_encoded_up_front_is_encoded_on_the_cpu(
    family: ModelFamily, model: ModelAdapter, checkpoint_of: CheckpointOf
) -> None:
    lean = load_family(family, checkpoint_of(family))
    lean.drop_text_encoders()
    embeds, expected = lean.encode_prompt("a green triangle"), model.encode_prompt("a green triangle")
    assert all(torch.equal(embeds[name], expected[name]) for name in expected)


def test_a_prompt_is_cut_off_where_the_pipeline_cuts_it(
    family: ModelFamily, model: ModelAdapter, pipeline: Any, checkpoint_of: CheckpointOf
) -> None:
    # Less than the prompt's tokens, or than what all prompts are padded to. Of fewer rows torch forms products in
    # another order for the pipeline's copies of a prompt than for one that is broadcast.
    length = 4 if FAMILY_TRAITS[family].sequence_length.is_padded else 2
    sampling = sampling_of(family, max_sequence_length=length)
    cut = load_family(family, checkpoint_of(family), sampling=sampling)
    ours = draw_with_adapter(cut, sampling).latents
    assert torch.equal(ours, draw_with_diffusers(pipeline, model, sampling).latents)
    assert not torch.equal(ours, draw_with_adapter(model, sampling_of(family)).latents)


def test_a_size_that_the_model_cannot_draw_is_refused(model: ModelAdapter) -> None:
    with pytest.raises(
        ModelLoadError, match=r"`sampling.width` must be a multiple of 8 for this model, got 36: take 32 or 40"
    ):
        model.latent_shape(32, 36)


def test_a_bf16_base_predicts_close_to_fp32_trains_its_fp32_lora_and_decodes(
    family: ModelFamily, model: ModelAdapter, checkpoint_of: CheckpointOf
) -> None:
    half = load_model(BaseModelSpec(family=family, dtype="bf16"), checkpoint_of(family))
    add_lora(half.transformer, LORA, half.default_lora_targets, seed=1)
    # Some transformers round 1000 sigma and 1000 guidance to bf16, in which the values here are exact.
    sampling = sampling_of(family, guidance_scale=4.0)
    noise, sigma = noise_for(model, sampling), torch.full((2,), 0.5)
    predicted = half.predict_velocity(noise, sigma, half.conditioning(Prompt(text=PROMPT), sampling))
    expected = model.predict_velocity(noise, sigma, model.conditioning(Prompt(text=PROMPT), sampling)).detach()
    assert predicted.dtype is torch.float32
    assert (predicted - expected).norm() < 0.1 * expected.norm()
    predicted.square().mean().backward()
    gradients = [parameter.grad for parameter in lora_parameters(half.transformer).values()]
    assert {gradient.dtype for gradient in gradients if gradient is not None} == {torch.float32}
    assert half.decode(noise, **SIZE).shape == (2, 32, 48, 3)
