"""The same work twice: as the engine does it, and as a plain script on diffusers and torch would.

Both work on equal weights with equal LoRA layers. The plain rollout is a call of the family's own pipeline, its prompt
encoded beforehand, as the engine's is. The plain training loop calls the transformer with the very inputs that the
engine's micro-batches have, and does forward, mean square, backward, clipping and AdamW: no policy, no kernel, no
log-probs, no bookkeeping.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import torch
from diffusers import FlowMatchEulerDiscreteScheduler, UniPCMultistepScheduler

from tests.bench.engine_cases import Case
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.models.base import ModelAdapter
from worker.engine.models.experts import experts_of
from worker.engine.models.lora import lora_parameters
from worker.engine.models.registry import MODEL_ADAPTERS, load_model
from worker.engine.rollout.denoising import sample_ode
from worker.engine.rollout.noise import initial_noise
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack, snapshot
from worker.engine.trainer.learners.transition_pairs import GroupPairs
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.deepspeed_config import build_optimizer
from worker.engine.types import GenerationRequest, GroupBatch
from worker.scheduling.core.batching import spread
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def model_with_lora(spec: RunSpec, path: str) -> ModelAdapter:
    model = load_model(spec.base_model, path)
    model.prepare_training(spec)
    return model


class Rollouts:
    """One fragment: the engine's, stochastic and deterministic, and the pipeline's."""

    def __init__(self, case: Case, path: str) -> None:
        self._spec = case.spec
        self._model = model_with_lora(case.spec, path)
        self._engine = Sampler(case.spec, self._model)
        self._engine.pull(pack(snapshot(lora_parameters(self._model.transformer)), 0))
        sampling = case.spec.sampling
        self._sigmas = self._model.sigmas(
            sampling.num_eval_denoising_steps,
            height=sampling.height,
            width=sampling.width,
            num_frames=sampling.num_frames,
        )
        self._pipeline = self._plain_pipeline(path)

    def stochastic(self) -> None:
        """As trajectories are drawn for training."""
        self._generate(Purpose.TRAIN, 0)

    def deterministic(self) -> None:
        self._generate(Purpose.EVALUATE, 0)

    def denoised(self) -> None:
        """`deterministic` without decoding."""
        sampling, seeds = self._spec.sampling, range(self._spec.batch.group_size)
        size = {"height": sampling.height, "width": sampling.width, "num_frames": sampling.num_frames}
        conditioning = self._model.conditioning(self._spec.prompts.inline[0], sampling)
        noise = initial_noise(seeds, self._model.latent_shape(**size))
        sample_ode(self._model, noise, self._sigmas, conditioning)

    def bare_latents(self) -> None:
        self.bare(output_type="latent")

    def bare(self, output_type: str = "np") -> None:
        """What `deterministic` does, by the pipeline's own `__call__`."""
        spec, sampling = self._spec, self._spec.sampling
        many = "num_videos_per_prompt" if FAMILY_TRAITS[spec.base_model.family].makes_clips else "num_images_per_prompt"
        self._pipeline(
            prompt=spec.prompts.inline[0],
            height=sampling.height,
            width=sampling.width,
            num_inference_steps=sampling.num_eval_denoising_steps,
            output_type=output_type,
            **{many: spec.batch.group_size},
            **MODEL_ADAPTERS[spec.base_model.family].pipeline_arguments(self._pipeline, sampling),
        )

    def groups(self) -> list[GroupBatch]:
        """A batch to train on. What stands for a reward tells members apart, nothing more."""
        groups = []
        for index, _ in enumerate(self._spec.prompts.inline):
            made = self._generate(Purpose.TRAIN, index)
            advantages = group_advantages([float(picture.mean()) for picture in made.images], clip=5.0).advantages
            assert made.trajectories is not None
            groups.append(GroupBatch(batch=0, group=index, trajectories=(made.trajectories,), advantages=advantages))
        return groups

    def _generate(self, purpose: Purpose, index: int) -> Any:
        fragment = Fragment(FragmentKey(purpose, 0, index, 0), tuple(range(self._spec.batch.group_size)), 0)
        prompt = self._spec.prompts.inline[index]
        request = GenerationRequest(fragment=fragment, prompt=prompt, run_seed=self._spec.seed, prompt_index=index)
        return self._engine.generate(request)

    def _plain_pipeline(self, path: str) -> Any:
        experts = experts_of(self._model.transformer)
        shared = {name.rstrip(".") or "transformer": module for name, module in experts.items()}
        pipeline: Any = self._model.pipeline_class.from_pretrained(path, dtype=self._model.dtype, **shared)
        pipeline.to(self._model.device)
        pipeline.set_progress_bar_config(disable=True)
        if isinstance(pipeline.scheduler, UniPCMultistepScheduler):
            # The engine's denoising steps are of first order.
            pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
        pipeline.encode_prompt = _remembering(pipeline.encode_prompt)
        return pipeline


def _remembering(encode: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def encoded(*args: Any, **named: Any) -> Any:
        key = repr((args, sorted(named.items())))
        if key not in known:
            known[key] = encode(*args, **named)
        return known[key]

    return encoded


class Trainings:
    """One optimizer step: the engine's, and a plain loop's over the same micro-batches."""

    def __init__(self, case: Case, path: str, groups: list[GroupBatch]) -> None:
        self._spec, self._path, self._groups = case.spec, path, groups
        self._num_pairs = case.spec.algebra.num_pairs_per_optimizer_step
        self._engine = TrainerRank(case.spec, path, 0, 1)

    @property
    def num_parameters(self) -> int:
        """Of the transformers, LoRA included."""
        return self._plain.num_parameters

    def steady(self) -> None:
        """Any optimizer step but the first of a batch."""
        self._step(fresh=False)

    def gated(self) -> None:
        """The first of a batch, where the replay gate is judged and the KL to the base is watched."""
        self._step(fresh=True)

    def bare(self) -> None:
        loop = self._plain
        for calls, target in loop.micro_batches:
            for call in calls:
                velocity = loop.velocity(call)
                loss = (velocity - target[: len(velocity)]).square().flatten(1).mean(1).sum() / self._num_pairs
                loss.backward()
        torch.nn.utils.clip_grad_norm_(loop.parameters, self._spec.optimizer.max_grad_norm)
        loop.optimizer.step()
        loop.optimizer.zero_grad()

    def _step(self, *, fresh: bool) -> None:
        self._engine.accumulate(self._groups, num_pairs_total=self._num_pairs, fresh=fresh)
        self._engine.commit()

    @cached_property
    def _plain(self) -> "_PlainLoop":
        return _PlainLoop(self._spec, self._path, self._groups)


Call = tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]


class _PlainLoop:
    def __init__(self, spec: RunSpec, path: str, groups: list[GroupBatch]) -> None:
        model = model_with_lora(spec, path)
        self._model = model
        self.num_parameters = sum(parameter.numel() for parameter in model.transformer.parameters())
        self.parameters = list(lora_parameters(model.transformer).values())
        self.optimizer = build_optimizer(spec, self.parameters)
        pairs = {group.group: GroupPairs.of(group) for group in groups}
        self.micro_batches: list[tuple[list[Call], torch.Tensor]] = []
        for micro in spread(spec.algebra, sorted(pairs), rank=0, world_size=1, tsp=spec.pipeline.tsp):
            held, rows = pairs[micro.group], torch.tensor(micro.pairs)
            latents = held.latents[rows].to(model.device)
            sigmas = held.sigmas[held.indices[rows]].to(model.device)
            conditioning = model.conditioning(held.prompt, spec.sampling, training=True)
            calls = self._calls(lambda x=latents, s=sigmas, c=conditioning: model.predict_velocity(x, s, c))  # type: ignore[misc]
            with torch.no_grad():
                self.micro_batches.append((calls, torch.randn_like(max(map(self.velocity, calls), key=len))))

    def velocity(self, call: Call) -> torch.Tensor:
        module, args, named = call
        half = self._model.dtype is torch.bfloat16
        with torch.autocast(self._model.device.type, torch.bfloat16) if half else nullcontext():
            predicted = module(*args, **named)[0]
        return (torch.stack(predicted) if isinstance(predicted, list) else predicted).float()

    def _calls(self, predict: Callable[[], object]) -> list[Call]:
        """How the family's adapter calls its transformers."""
        seen: list[Call] = []

        def note(module: torch.nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            seen.append((module, args, named))

        hooks = [
            expert.register_forward_pre_hook(note, with_kwargs=True)
            for expert in experts_of(self._model.transformer).values()
        ]
        with torch.no_grad():
            predict()
        for hook in hooks:
            hook.remove()
        return seen
