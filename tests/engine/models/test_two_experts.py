"""Wan 2.2 has two experts, of which the noise level chooses one: guidance, adapters and replay with both."""

from pathlib import Path

import pytest
import torch
from diffusers import DiffusionPipeline, FlowMatchEulerDiscreteScheduler

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import (
    CLIP,
    PROMPT,
    assert_equal_draws,
    draw_with_adapter,
    load_family,
    run_one_batch,
    run_spec_of,
    sampling_of,
    with_random_lora,
)
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import Prompt
from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import Expert, Experts, by_expert
from worker.engine.models.lora import lora_parameters
from worker.fixtures.tiny_models.clip_pipelines import build_wan22_ti2v


def test_each_expert_is_guided_as_the_pipeline_guides_it(
    checkpoint_of: CheckpointOf, tmp_path: Path, process_group: None
) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(ModelFamily.WAN22))
    pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
    pipeline.save_pretrained(tmp_path)
    model = load_family(ModelFamily.WAN22, str(tmp_path))
    guided = {"guidance_scale": 4.0, "negative_prompt": "a blue circle"}
    sampling = sampling_of(ModelFamily.WAN22, **CLIP, **guided, guidance_scale_2=2.5)
    assert_equal_draws(model, pipeline, sampling)
    alike = draw_with_adapter(model, sampling_of(ModelFamily.WAN22, **CLIP, **guided)).latents
    assert not torch.allclose(draw_with_adapter(model, sampling).latents, alike, atol=1e-2)
    # Rows of both experts in one replayed micro-batch, each with its own scale.
    spec = run_spec_of(ModelFamily.WAN22, sampling={**CLIP, "guidance_scale": 4.0, "guidance_scale_2": 2.5})
    stats, *_ = run_one_batch(spec, str(tmp_path))
    assert stats.maxima["replay_ratio_deviation"] < 1e-5


def test_a_scale_for_an_expert_that_is_not_there_is_refused(tmp_path: Path) -> None:
    build_wan22_ti2v().save_pretrained(tmp_path)
    model = load_family(ModelFamily.WAN22, str(tmp_path))
    with pytest.raises(ModelLoadError, match=r"guidance_scale_2` must be empty for this model, got 2.5: it has one"):
        model.conditioning(
            Prompt(text=PROMPT), sampling_of(ModelFamily.WAN22, guidance_scale=4.0, guidance_scale_2=2.5)
        )


def test_two_experts_without_a_boundary_are_refused(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    pipeline = DiffusionPipeline.from_pretrained(checkpoint_of(ModelFamily.WAN22))
    pipeline.register_to_config(boundary_ratio=None)
    pipeline.save_pretrained(tmp_path)
    with pytest.raises(ModelLoadError, match=r"`boundary_ratio` in the model_index.json .* got none"):
        load_family(ModelFamily.WAN22, str(tmp_path))


def test_a_checkpoint_with_two_experts_is_no_wan_2_1(checkpoint_of: CheckpointOf) -> None:
    with pytest.raises(ModelLoadError, match="must be wan22 for a checkpoint with two transformers, got wan"):
        load_family(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN22))


def test_both_experts_have_adapters_of_their_own_and_both_draw(checkpoint_of: CheckpointOf) -> None:
    model = with_random_lora(load_family(ModelFamily.WAN22, checkpoint_of(ModelFamily.WAN22)))
    assert isinstance(model.transformer, Experts)
    own = lora_parameters(model.transformer)
    assert {name.partition(".")[0] for name in own} == {"transformer", "transformer_2"}
    sampling = sampling_of(ModelFamily.WAN22, **CLIP)
    with_both = draw_with_adapter(model, sampling).latents
    for expert in ("transformer", "transformer_2"):
        changed = with_random_lora(load_family(ModelFamily.WAN22, checkpoint_of(ModelFamily.WAN22)))
        with torch.no_grad():
            for name, parameter in lora_parameters(changed.transformer).items():
                parameter.mul_(0.0 if name.startswith(f"{expert}.") else 1.0)
        assert not torch.allclose(draw_with_adapter(changed, sampling).latents, with_both, atol=1e-3), expert


def test_rows_on_both_sides_of_the_boundary_are_predicted_as_if_alone(checkpoint_of: CheckpointOf) -> None:
    """Replay packs denoising steps of both experts into one micro-batch."""
    model = with_random_lora(load_family(ModelFamily.WAN22, checkpoint_of(ModelFamily.WAN22)))
    sampling = sampling_of(ModelFamily.WAN22, **CLIP, guidance_scale=2.0, batched_cfg=True)
    latents, sigmas = torch.randn(4, *model.latent_shape(32, 48, 9)), torch.tensor([0.5, 0.95, 0.3, 0.99])
    conditioning = model.conditioning(Prompt(text=PROMPT), sampling)
    together = model.predict_velocity(latents, sigmas, conditioning)
    alone = [model.predict_velocity(latents[i : i + 1], sigmas[i : i + 1], conditioning) for i in range(4)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_high_noise", [True, False])
def test_in_lockstep_both_experts_run_in_one_order_and_the_one_without_rows_changes_nothing(
    is_high_noise: bool,
) -> None:
    ran: list[str] = []

    def expert(name: str, value: float) -> Expert:
        def predict(rows: torch.Tensor) -> torch.Tensor:
            ran.append(name)
            return torch.full((len(rows), 2), value)

        return predict

    velocity = by_expert(torch.tensor([is_high_noise] * 3), expert("high", 1.0), expert("low", 2.0), runs=(True, True))
    assert ran == ["high", "low"]
    assert torch.equal(velocity, torch.full((3, 2), 1.0 if is_high_noise else 2.0))
