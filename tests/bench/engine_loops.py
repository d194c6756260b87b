"""The same work twice: by `worker.engine`, and by a plain script on diffusers and torch.

Both use equal weights and LoRA layers. The plain rollout is a call of the family's own pipeline, with the prompt
encoded beforehand as for the sampler. The plain training loop calls the transformer with the inputs of the trainer
rank's micro-batches, and does forward, mean squared error, backward, clipping and AdamW: no SDE kernel, no log-probs,
no bookkeeping.
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
from worker.engine.transport.parts import micro_batches_of_group
from worker.engine.types import GenerationRequest, GroupBatch
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def model_with_lora(spec: RunSpec, path: str) -> ModelAdapter:
    model = load_model(spec.base_model, path)
    model.prepare_training(spec)
    return model


class Rollouts:
    """Draws one fragment: with the sampler, stochastic and deterministic, and with the pipeline."""

    def __init__(self, case: Case, path: str) -> None:
        self._spec = case.spec
        self._model = model_with_lora(case.spec, path)
        self._sampler = Sampler(case.spec, self._model)
        self._sampler.pull(pack(snapshot(lora_parameters(self._model.transformer)), 0))
        sampling = case.spec.sampling
        self._sigmas = self._model.sigmas(
            sampling.num_eval_denoising_steps,
            height=sampling.height,
            width=sampling.width,
            num_frames=sampling.num_frames,
        )
        self._pipeline = self._plain_pipeline(path)

    def stochastic(self) -> None:
        """Draw a fragment as for training."""
        self._generate(Purpose.TRAIN, 0)

    def deterministic(self) -> None:
        """Draw a fragment as for evaluation."""
        self._generate(Purpose.EVALUATE, 0)

    def latents(self) -> None:
        """`deterministic` without decoding."""
        sampling, seeds = self._spec.sampling, range(self._spec.batch.group_size)
        size = {"height": sampling.height, "width": sampling.width, "num_frames": sampling.num_frames}
        conditioning = self._model.conditioning(self._spec.prompts.inline[0], sampling)
        noise = initial_noise(seeds, self._model.latent_shape(**size))
        sample_ode(self._model, noise, self._sigmas, conditioning)

    def pipeline_latents(self) -> None:
        """`pipeline` without decoding."""
        self.pipeline(output_type="latent")

    def pipeline(self, output_type: str = "np") -> None:
        """The work of `deterministic`, by the pipeline's own `__call__`."""
        spec, sampling = self._spec, self._spec.sampling
        makes_clips = FAMILY_TRAITS[spec.base_model.family].makes_clips
        num_argument = "num_videos_per_prompt" if makes_clips else "num_images_per_prompt"
        self._pipeline(
            prompt=spec.prompts.inline[0].text,
            height=sampling.height,
            width=sampling.width,
            num_inference_steps=sampling.num_eval_denoising_steps,
            output_type=output_type,
            **{num_argument: spec.batch.group_size},
            **MODEL_ADAPTERS[spec.base_model.family].pipeline_arguments(self._pipeline, sampling),
        )

    def groups(self) -> list[GroupBatch]:
        """A batch to train on, whose rewards are the brightness of the pictures."""
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
        return self._sampler.generate(request)

    def _plain_pipeline(self, path: str) -> Any:
        experts = experts_of(self._model.transformer)
        shared = {name.rstrip(".") or "transformer": module for name, module in experts.items()}
        pipeline: Any = self._model.pipeline_class.from_pretrained(path, dtype=self._model.dtype, **shared)
        pipeline.to(self._model.device)
        pipeline.set_progress_bar_config(disable=True)
        if isinstance(pipeline.scheduler, UniPCMultistepScheduler):
            # The sampler's denoising steps are of first order.
            pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
        pipeline.encode_prompt = _cached(pipeline.encode_prompt)
        return pipeline


def _cached(encode: Callable[..., Any]) -> Callable[..., Any]:
    """`encode`, called once for the same arguments."""
    known: dict[str, Any] = {}

    def encoded(*args: Any, **named: Any) -> Any:
        key = repr((args, sorted(named.items())))
        if key not in known:
            known[key] = encode(*args, **named)
        return known[key]

    return encoded


class Trainings:
    """Takes one optimizer step: with a trainer rank, and with a plain loop over the same micro-batches."""

    def __init__(self, case: Case, path: str, groups: list[GroupBatch]) -> None:
        self._spec, self._path, self._groups = case.spec, path, groups
        self._num_pairs = case.spec.algebra.num_pairs_per_optimizer_step
        self._trainer = TrainerRank(case.spec, path, 0, 1)

    @property
    def num_parameters(self) -> int:
        """The number of parameters of the transformers, LoRA layers included."""
        return self._plain_loop.num_parameters

    def steady(self) -> None:
        """Take any optimizer step but the first of a batch."""
        self._step(fresh=False)

    def gated(self) -> None:
        """Take the first optimizer step of a batch, where the replay gate is checked and the KL to the base
        monitored."""
        self._step(fresh=True)

    def plain(self) -> None:
        """Take an optimizer step with the plain loop."""
        loop = self._plain_loop
        for calls, target in loop.micro_batches:
            for call in calls:
                velocity = loop.velocity(call)
                loss = (velocity - target[: len(velocity)]).square().flatten(1).mean(1).sum() / self._num_pairs
                loss.backward()
        torch.nn.utils.clip_grad_norm_(loop.parameters, self._spec.optimizer.max_grad_norm)
        loop.optimizer.step()
        loop.optimizer.zero_grad()

    def _step(self, *, fresh: bool) -> None:
        self._trainer.accumulate(self._groups, num_pairs_total=self._num_pairs, fresh=fresh)
        self._trainer.commit()

    @cached_property
    def _plain_loop(self) -> "_PlainLoop":
        return _PlainLoop(self._spec, self._path, self._groups)


Call = tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]
"""(transformer, arguments, keyword arguments) of a forward pass."""


class _PlainLoop:
    """The model, the optimizer and the forward passes of the plain loop."""

    def __init__(self, spec: RunSpec, path: str, groups: list[GroupBatch]) -> None:
        model = model_with_lora(spec, path)
        self._model = model
        self.num_parameters = sum(parameter.numel() for parameter in model.transformer.parameters())
        self.parameters = list(lora_parameters(model.transformer).values())
        self.optimizer = build_optimizer(spec, self.parameters)
        pairs = {group.group: GroupPairs.of(group) for group in groups}
        self.micro_batches: list[tuple[list[Call], torch.Tensor]] = []
        for micro in (micro for group in sorted(pairs) for micro in micro_batches_of_group(spec.algebra, group)):
            group = pairs[micro.group]
            stored = group.stored(micro.pairs, model.device)
            latents, sigmas = stored.latents, group.sigmas.to(model.device)[stored.indices]
            conditioning = model.conditioning(group.prompt, spec.sampling, training=True)
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
        """The calls of transformers that `predict` makes."""
        calls: list[Call] = []

        def record(module: torch.nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            calls.append((module, args, named))

        hooks = [
            expert.register_forward_pre_hook(record, with_kwargs=True)
            for expert in experts_of(self._model.transformer).values()
        ]
        with torch.no_grad():
            predict()
        for hook in hooks:
            hook.remove()
        return calls
