"""Helpers of the tests that every model family must pass on its tiny checkpoint, for pictures and clips alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.engine.conftest import merged
from tests.engine.fixed_trajectories import draw_groups
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import BaseModelSpec, LoraSpec, SamplingSpec
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import add_lora, lora_parameters
from worker.engine.models.prompt_encoding import run_embeddings
from worker.engine.models.registry import MODEL_ADAPTERS, load_model
from worker.engine.rollout.denoising import sample_ode
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.shards import LoadedVersion
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import PullReceipt, UpdateStats

PROMPT = "a red square"
NUM_SAMPLES = 2
SIZE = {"height": 32, "width": 48}
"""Not square, because a square would hide swapped rows and columns."""
CLIP = {"num_frames": 9}
LORA = LoraSpec(rank=4, alpha=16.0)

IN_ONE_PASS = {ModelFamily.SD3, ModelFamily.Z_IMAGE}
"""Families whose pipelines make both predictions of true CFG in one forward pass."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Samples of one prompt."""

    latents: torch.Tensor
    """Clean latents in the transformer's layout."""
    pictures: np.ndarray
    """Pictures or clips, uint8."""


def sampling_of(family: ModelFamily, **changes: Any) -> SamplingSpec:
    return SamplingSpec.model_validate({"num_denoising_steps": 4, "num_eval_denoising_steps": 4, **SIZE, **changes})


def noise_for(model: ModelAdapter, sampling: SamplingSpec) -> torch.Tensor:
    shape = model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    return torch.randn(NUM_SAMPLES, *shape, generator=torch.Generator().manual_seed(5))


def pipeline_noise(model: ModelAdapter, sampling: SamplingSpec) -> torch.Tensor:
    """The same x_T as the family's pipeline takes it: FLUX.2's packs the noise itself."""
    noise = noise_for(model, sampling)
    if model.family not in (ModelFamily.FLUX2, ModelFamily.FLUX2_KLEIN):
        return noise
    return noise.permute(0, 2, 1).unflatten(2, (4, 6))


def draw_with_adapter(model: ModelAdapter, sampling: SamplingSpec) -> Drawn:
    """Samples drawn by the adapter, as in evaluation."""
    size = {"height": sampling.height, "width": sampling.width, "num_frames": sampling.num_frames}
    sigmas = model.sigmas(sampling.num_eval_denoising_steps, **size)
    clean = sample_ode(model, noise_for(model, sampling), sigmas, model.conditioning(Prompt(text=PROMPT), sampling))
    return Drawn(clean, model.decode(clean, **size))


def draw_with_pipeline(pipeline: Any, model: ModelAdapter, sampling: SamplingSpec, noise: torch.Tensor) -> Drawn:
    """Samples drawn by calling the pipeline as a user would, from `noise` in the pipeline's layout."""
    steps: list[torch.Tensor] = []

    def record(_: Any, __: int, ___: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        steps.append(tensors["latents"].clone())
        return tensors

    pipeline.set_progress_bar_config(disable=True)
    num_argument = "num_videos_per_prompt" if FAMILY_TRAITS[model.family].makes_clips else "num_images_per_prompt"
    output = pipeline(
        prompt=PROMPT,
        height=sampling.height,
        width=sampling.width,
        num_inference_steps=sampling.num_eval_denoising_steps,
        latents=noise,
        output_type="np",
        callback_on_step_end=record,
        **{num_argument: NUM_SAMPLES},
        **MODEL_ADAPTERS[model.family].pipeline_arguments(pipeline, sampling),
    )
    pictures = np.asarray(output[0])
    return Drawn(steps[-1], (pictures * 255).round().astype(np.uint8))


def load_family(family: ModelFamily, path: str, **arguments: Any) -> ModelAdapter:
    return load_model(BaseModelSpec(family=family), path, **arguments)


def with_random_lora(model: ModelAdapter) -> ModelAdapter:
    """`model` with LoRA layers that change its predictions; in new ones B is 0."""
    add_lora(model.transformer, LORA, model.default_lora_targets, seed=1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in lora_parameters(model.transformer).values():
            parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


def run_spec_of(family: ModelFamily, **sections: Any) -> RunSpec:
    """A spec of 2 prompts x 2 members, trained on every stochastic denoising step."""
    base: dict[str, Any] = {
        "base_model": {"family": family.value},
        "prompts": {"inline": ("a red square", "a blue circle")},
        "rewards": [{"name": "colorfulness"}],
        "lora": {"rank": 4, "alpha": 8.0},
        "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 2, **SIZE},
        "batch": {"num_prompts_per_batch": 2, "group_size": 2, "micro_batch_size": 3},
        "algorithm": {"clip_range": 0.2},
    }
    return RunSpec.model_validate(merged(base, sections))


def run_one_batch(spec: RunSpec, path: str) -> tuple[UpdateStats, PullReceipt, LoadedVersion]:
    """Draw, train, publish and pull one batch in this process; the replay gate is checked."""
    embeddings = run_embeddings(spec, path, spec.prompts.inline)
    trainer = TrainerRank(spec, path, 0, 1, embeddings=embeddings)
    groups = draw_groups(spec, path, trainer.version(0))
    stats = trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=True)
    check_replay_gate(stats, spec.replay_bounds)
    assert trainer.commit()["grad_norm"] > 0
    sampler = Sampler.load(spec, path, embeddings=embeddings)
    published = trainer.version(1)
    return stats, sampler.pull(published), published


def rounding_of(family: ModelFamily) -> float:
    """How far latents may lie from the pipeline's: HunyuanVideo's padding is cropped and not masked, so sums have fewer
    terms."""
    return 1e-5 if family is ModelFamily.HUNYUAN_VIDEO else 0.0


def assert_equal_draws(model: ModelAdapter, pipeline: Any, sampling: SamplingSpec) -> None:
    """The adapter draws the pipeline's pictures or clips: bit for bit, but for HunyuanVideo, whose padding is cropped
    and not masked."""
    # Frozen as the adapter's: torch orders products by a weight that requires gradients differently, which rounds
    # differently.
    pipeline.vae.requires_grad_(False)
    ours = draw_with_adapter(model, sampling)
    theirs = draw_with_pipeline(pipeline, model, sampling, noise_for(model, sampling))
    rounding = rounding_of(model.family)
    torch.testing.assert_close(ours.latents, theirs.latents, rtol=0, atol=rounding)
    if sampling.num_frames == 1:
        assert ours.pictures.shape == (2, 32, 48, 3)
        theirs.pictures.shape = (2, 32, 48, 3)
    else:
        assert ours.pictures.shape == (2, 9, 32, 48, 3)
    np.testing.assert_allclose(ours.pictures, theirs.pictures, rtol=0, atol=1 if rounding else 0)
    assert ours.pictures.std() > 1
