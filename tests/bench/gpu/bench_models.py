"""The models of the bench as the engine meets them: a resident model, its spec, its profile, what predictions take.

BenchModel ─ load ─► LoadedModel ─ spec(size, …) ─► RunSpec ─► Sampler, TrainerRank, Workload
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import torch

from tests.bench.gpu.bench_shapes import PROMPT, PROMPTS, BenchModel, SampleSize
from tests.bench.gpu.resident_models import (
    ResidentModel,
    configured_folder,
    make_resident,
    random_embeddings,
    resident,
)
from tests.bench.gpu.stage_runner import GpuBench, free_unused
from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from worker.contracts.names import Tuning
from worker.contracts.performance import Compilation, PerformanceSpec
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import BaseModelSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.pipeline_loading import TEXT_ONLY, WITHOUT_TEXT
from worker.engine.models.registry import load_model
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.zero.recomputed_share import recomputed_share
from worker.engine.types import GroupBatch, PublishedShard
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.known_models import profile_of
from worker.scheduling.profiles.model_profile import ModelProfile

NOT_COMPILED = {"compilation": "off"}
"""Of a spec's `performance`: compiling takes longer than most stages have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model whose weights lie on the device."""

    model: BenchModel
    resident: ResidentModel
    profile: ModelProfile
    """The planner's, with as many blocks as are here."""
    rank: int
    """Of LoRA."""

    def spec(self, size: SampleSize, *, members: int, micro_batch_size: int | None = None, **sections: Any) -> RunSpec:
        """A run on this model: one prompt, one group of `members`, two denoising steps of which one is stochastic.
        Blocks are compiled only where `sections` has a `performance`."""
        return RunSpec.model_validate(
            {
                "base_model": {"path": self.model.hub_id, "family": self.model.family.value, "dtype": self.model.dtype},
                "prompts": {"inline": [PROMPT]},
                "rewards": [{"name": "colorfulness"}],
                "lora": {"rank": self.rank, "alpha": 2.0 * self.rank},
                "sampling": {
                    "num_denoising_steps": 2,
                    "num_eval_denoising_steps": 2,
                    "num_sde_steps": 1,
                    **size.as_arguments,
                },
                "batch": {
                    "num_prompts_per_batch": 1,
                    # A group has two members at least; a prediction of one is no fragment.
                    "group_size": max(2, members),
                    "micro_batch_size": micro_batch_size or members,
                },
                "performance": NOT_COMPILED,
                **sections,
            }
        )

    def workload(self, spec: RunSpec) -> Workload:
        """What the planner makes of `spec`, for the blocks that are here: a trainer rank's decision of what to
        recompute included."""
        is_full = spec.tuning is Tuning.FULL
        trained = self.profile.parameters if is_full else self.profile.lora_parameters(spec.lora.rank)
        work = replace(Workload.of(spec), profile=self.profile, trained_parameters=trained)
        return work.recomputing(self.num_recomputed_blocks(spec))

    def num_recomputed_blocks(self, spec: RunSpec) -> int:
        """How many of the blocks that are here a single trainer rank recomputes. Where `spec` leaves it open, the rank
        decides a share for the model that the spec names, which has all of its blocks."""
        device = next(self.resident.transformer.parameters()).device
        share = recomputed_share(spec, device, num_parameters=int(self.profile.parameters), num_lanes=1)
        return ceil(self.profile.num_layers * share)

    def adapter(self, spec: RunSpec, performance: PerformanceSpec | None = None, *, is_trained: bool) -> ModelAdapter:
        """The engine's model as a rollout lane loads it; without LoRA layers unless `is_trained`."""
        with resident(self.resident):
            adapter = load_model(
                spec.base_model,
                self.resident.path,
                parts=WITHOUT_TEXT,
                sampling=spec.sampling,
                performance=performance,
            )
        if is_trained:
            adapter.prepare_training(spec)
        return adapter


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The inputs of one prediction of a batch."""

    latents: torch.Tensor
    sigmas: torch.Tensor
    conditioning: Conditioning

    @classmethod
    def of(cls, adapter: ModelAdapter, spec: RunSpec, size: SampleSize, batch: int) -> "Prediction":
        shape = adapter.latent_shape(size.height, size.width, size.num_frames)
        return cls(
            latents=torch.randn(batch, *shape, device=adapter.device),
            # Half of the noise is left.
            sigmas=torch.full((batch,), 0.5, device=adapter.device),
            conditioning=adapter.conditioning(spec.prompts.inline[0], spec.sampling),
        )

    def predict(self, adapter: ModelAdapter) -> torch.Tensor:
        return adapter.predict_velocity(self.latents, self.sigmas, self.conditioning)


def main_model(bench: GpuBench) -> LoadedModel:
    """The model that most stages measure."""
    return loaded_model(bench, bench.shapes.main)


def loaded_model(bench: GpuBench, model: BenchModel) -> LoadedModel:
    """`model` with random weights on the bench's device, made once in a process."""
    if model.hub_id not in bench.kept:
        lora_rank = bench.shapes.lora_rank
        bench.kept[model.hub_id] = made_model(model, bench.folder, device=bench.device, lora_rank=lora_rank)
    found: LoadedModel = bench.kept[model.hub_id]
    return found


def release_model(bench: GpuBench, model: BenchModel) -> None:
    """Drop what is kept of `model`, which no later case measures."""
    for key in [key for key in bench.kept if key == model.hub_id or key.startswith(f"{model.hub_id} ")]:
        del bench.kept[key]
    free_unused()


def drawn_groups(bench: GpuBench, loaded: LoadedModel, spec: RunSpec) -> tuple[PublishedShard, list[GroupBatch]]:
    """A version with a LoRA that is not 0, and the groups of one batch that it drew; drawn once for each way to sample.
    What trains may compile its blocks: what draws for it does not."""
    key = f"{loaded.model.hub_id} groups {spec.sampling.model_dump_json()} {spec.batch.group_size}"
    if key not in bench.kept:
        uncompiled = spec.performance.model_copy(update={"compilation": Compilation.OFF})
        drawing = spec.model_copy(update={"performance": uncompiled})
        bench.kept[key] = draw(loaded, drawing, kept_version(bench, loaded, spec))
    found: list[GroupBatch] = bench.kept[key]
    return kept_version(bench, loaded, spec), found


def kept_version(bench: GpuBench, loaded: LoadedModel, spec: RunSpec) -> PublishedShard:
    """`new_version` of a model, made once: its values are drawn on the host, 131 million for FLUX.1."""
    key = f"{loaded.model.hub_id} version {spec.tuning} {spec.lora.model_dump_json()}"
    if key not in bench.kept:
        bench.kept[key] = new_version(loaded, spec)
    found: PublishedShard = bench.kept[key]
    return found


def new_version(loaded: LoadedModel, spec: RunSpec) -> PublishedShard:
    """A version with a LoRA that is not 0."""
    with resident(loaded.resident):
        return perturbed_version(spec, loaded.resident.path, seed=1)


def draw(loaded: LoadedModel, spec: RunSpec, version: PublishedShard) -> list[GroupBatch]:
    """The groups of one batch that `version` draws, as a rollout lane draws them."""
    with resident(loaded.resident):
        sampler = Sampler.load(spec, loaded.resident.path)
        return draw_groups(spec, loaded.resident.path, version, sampler=sampler)


def made_model(model: BenchModel, into: Path, *, device: torch.device, lora_rank: int) -> LoadedModel:
    """`model` with random weights, made on `device`; its configs are written below `into`."""
    tiny = build_tiny_checkpoint(model.family, into / "tiny")
    spec = BaseModelSpec(family=model.family, dtype=model.dtype)
    encoder = load_model(spec, str(tiny), parts=TEXT_ONLY, device="cpu")
    encoded = {prompt: encoder.encode_prompt(prompt) for prompt in PROMPTS}
    base = profile_of(BaseModelSpec(path=model.hub_id, family=model.family))
    folder = configured_folder(tiny, into / model.name, model.configs)

    def embeddings(config: Any) -> Mapping[str, PromptEmbeds]:
        if not model.configs:
            return encoded
        return random_embeddings(next(iter(encoded.values())), config, base.text_tokens, PROMPTS)

    made = make_resident(model.family, folder, embeddings, device=device, dtype=model.dtype)
    return LoadedModel(
        model=model,
        resident=made,
        profile=profile_here(base, made.transformers),
        rank=lora_rank,
    )


def profile_here(base: ModelProfile, transformers: Mapping[str, torch.nn.Module]) -> ModelProfile:
    """`base` with the size of `transformers`, which may have fewer or narrower blocks; all experts have one size."""
    first: Any = transformers["transformer"]
    width, num_layers = _width_and_layers(first.config)
    scale = width / base.width
    return replace(
        base,
        parameters=float(sum(each.numel() for module in transformers.values() for each in module.parameters())),
        num_layers=num_layers,
        width=width,
        layer_parameters_per_token=base.layer_parameters_per_token * scale**2,
        lora_parameters_per_rank=base.lora_parameters_per_rank * scale * num_layers / base.num_layers,
    )


def _width_and_layers(config: Any) -> tuple[int, int]:
    """The width of a transformer's blocks, and the number that a sample's tokens pass, by either name of the two."""
    if "n_layers" in config:
        # Z-Image refines the tokens of sample and text apart, in blocks of their own, before it joins them.
        return config.dim, config.n_layers + config.n_refiner_layers
    width = config.num_attention_heads * config.attention_head_dim
    return width, config.num_layers + config.get("num_single_layers", 0)
