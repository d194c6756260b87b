"""The sampler as a plain class: pull a policy version, generate fragments with it.

```text
rollout lane       ─ a model of its own ─────┐
lent trainer lane  ─ its generation replica ─┴─► Sampler: pull(version) ─► generate_all(requests) ─► GeneratedFragment
```

Both run the same code and draw the same bits. Invariant: a fragment never mixes versions. `pull` is called between
calls, and `generate_all` refuses a fragment of any other version than the one bound.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from enum import Enum, auto
from functools import partial
from itertools import islice
from typing import Self

import numpy as np
import torch

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import GroupSteps
from worker.engine.algorithms.registry import steps_of_group
from worker.engine.devices.smaller_calls import MemoryPlan, SmallerCalls
from worker.engine.errors import NonFiniteError, SyncError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.embeddings import Embeddings
from worker.engine.rollout.denoising import Transitions, sample_ode, sample_sde
from worker.engine.rollout.drawing_plan import DrawingPlan, joined_plans
from worker.engine.rollout.generation_model import Followers, load_generation_model
from worker.engine.rollout.noise import initial_noise, trajectory_seed
from worker.engine.rollout.sde_kernel import SdeKernel
from worker.engine.sync.binding import bind
from worker.engine.types import (
    BindableVersion,
    GeneratedFragment,
    GenerationRequest,
    PublishedVersion,
    PullReceipt,
    Trajectories,
)
from worker.scheduling.core.messages import Fragment, Purpose
from worker.scheduling.planning.memory import MemoryRole

DRAW_LESS = "lower `batch.fragment_size` or the size of the samples, or take devices with more memory"
LOAD_LESS = "set `base_model.dtype: bf16`, or take devices with more memory"
DRAW_SMALLER = "lower the size of the samples, or take devices with more memory"


class _BoundWeights(Enum):
    """Which weights of the pulled version the live modules hold."""

    NONE = auto()
    TRAINING = auto()
    """The weights that draw training data."""
    EVALUATION = auto()
    """The weights that evaluation and requested samples are drawn with, where they differ."""


class Sampler:
    """Generates fragments with one model, from the first `pull` on."""

    def __init__(
        self,
        spec: RunSpec,
        model: ModelAdapter,
        *,
        releases_weights: bool = False,
        memory_role: MemoryRole = MemoryRole.ROLLOUT,
        followers: Followers | None = None,
        gpus_in_step: int = 1,
    ) -> None:
        """Generate with `model`, whose trainable parameters only this sampler may write to.

        Args:
            spec: the run's.
            model: prepared for what the spec trains.
            releases_weights: the trainable parameters may be freed; `invalidate_weights` is called whenever they are.
            memory_role: what its lane does, by which the memory plan counts.
            followers: the lane's GPUs beyond the first, which `model` is spread over.
            gpus_in_step: of the lane, each in a process that draws the same in the same passes, so that with several
                none may make smaller ones.
        """
        self._spec = spec
        self._model = model
        self._followers = followers
        self._version: int | None = None
        self._pulled: PublishedVersion | None = None
        """The version pulled, kept only where it may have to be bound again, since its shards stay in memory."""
        self._bound = _BoundWeights.NONE
        self._has_evaluated = spec.evaluates_apart
        self._binds_again = releases_weights or spec.evaluates_apart
        sampling = spec.sampling
        self._eval_sigmas = self._sigmas(sampling.num_eval_denoising_steps)
        self._kernel = SdeKernel.of(sampling, self._sigmas(sampling.num_denoising_steps))
        num_gpus = gpus_in_step if followers is None else followers.size
        self._memory = plan = MemoryPlan(spec, memory_role, num_gpus=num_gpus)
        smaller_calls = partial(SmallerCalls, plan, advice=DRAW_LESS, is_exact=gpus_in_step == 1)
        self._together = smaller_calls("generate {} fragments in one pass")
        self._drawing = smaller_calls("generate {} trajectories in one pass")
        self._decoding = SmallerCalls(plan, "decode {} samples in one pass", advice=DRAW_SMALLER)

    @classmethod
    def load(
        cls,
        spec: RunSpec,
        base_model_path: str,
        device: str | torch.device | None = None,
        embeddings: Embeddings | None = None,
        followers: Followers | None = None,
    ) -> Self:
        """A sampler with a model of its own.

        Args:
            spec: the run's.
            base_model_path: an existing folder in diffusers layout, or a hub id.
            device: where to load; by default the accelerator's current device.
            embeddings: of the run's prompts; any other prompt is encoded on the CPU when it comes.
            followers: the lane's GPUs beyond the first, which are loading.

        Raises:
            ModelLoadError: for weights, sizes or LoRA targets that cannot be used.
            DeviceMemoryError: for too little memory.
        """
        plan = MemoryPlan(spec, MemoryRole.ROLLOUT, num_gpus=1 if followers is None else followers.size)
        with plan.explaining("load the model", LOAD_LESS):
            model = load_generation_model(spec, base_model_path, device, embeddings)
        if followers is not None:
            followers.join(model)
        return cls(spec, model, followers=followers)

    @property
    def policy_version(self) -> int | None:
        """The version pulled; `None` before the first `pull`."""
        return self._version

    @property
    def memory(self) -> MemoryPlan:
        """What the plan says of the lane's memory, for what is done with its device beside generation."""
        return self._memory

    def pull(self, version: PublishedVersion, received: BindableVersion | None = None) -> PullReceipt:
        """Bind a published version and read it back from the live modules.

        Args:
            version: it is fetched, unless it was received; kept where it may have to be bound again.
            received: the same version's weights that draw training data, where they are in this process already. They
                are not needed afterwards.

        Raises:
            SyncError: as `bind`; no version counts as bound then, since the modules may hold some tensors of each.
            DeviceMemoryError: for too little memory.
        """
        self._version, self._pulled, self._bound = None, None, _BoundWeights.NONE
        with self._memory.explaining(f"take in policy version {version.policy_version}", DRAW_LESS):
            receipt = self._bind(version, received=received)
        self._version, self._bound = version.policy_version, _BoundWeights.TRAINING
        self._pulled = version if self._binds_again else None
        return receipt

    def invalidate_weights(self) -> None:
        """Called when the memory of the trainable parameters was freed: the pulled version is bound again when it is
        next needed."""
        self._bound = _BoundWeights.NONE

    def generate(self, request: GenerationRequest) -> GeneratedFragment:
        """Draw one fragment; as `generate_all`."""
        return self.generate_all([request])[0]

    def generate_all(self, requests: Sequence[GenerationRequest]) -> list[GeneratedFragment]:
        """Draw fragments of one purpose, in the same passes where steps and prompts allow it: for training with the
        algorithm's stochastic steps, otherwise deterministically on the evaluation's schedule.

        Raises:
            SyncError: when a fragment is of another version than the one bound.
            NonFiniteError: naming the first member whose latents are not finite; decoded they would only look black.
            DeviceMemoryError: for too little memory, see `SmallerCalls`.
            LaneSpreadError: for a lane of several GPUs, as `Followers` says.
        """
        for fragment in (request.fragment for request in requests):
            if fragment.policy_version != self.policy_version:
                raise SyncError(
                    f"fragment {fragment.key} wants policy version {fragment.policy_version}, "
                    f"but {self.policy_version} is bound: pull it first"
                )
        self._bind_for(requests[0].fragment.key.purpose)
        self._model.encode_prompts(text for request in requests for text in self._texts(request.prompt))
        plans = [self._plan(request) for request in requests]
        with nullcontext() if self._followers is None else self._followers.following():
            return [made for call in self._together(plans, self._generate_together) for made in call]

    def _generate_together(self, plans: Sequence[DrawingPlan]) -> list[GeneratedFragment]:
        """The fragments of `plans`, in as few passes as their steps and prompts allow."""
        return [made for plan in joined_plans(plans) for made in self._generate(plan)]

    def _generate(self, plan: DrawingPlan) -> Iterator[GeneratedFragment]:
        """The fragments of a plan; its seconds are shared out over them by their members."""
        started = time.perf_counter()
        clean, trajectories = self._draw(plan)
        drawn = time.perf_counter()
        images = np.concatenate(self._decoding(range(len(clean)), partial(self._decode, clean)))
        decoded, first = time.perf_counter(), 0
        for request, number, own in zip(plan.requests, plan.numbers, trajectories, strict=True):
            share = number / len(plan.seeds)
            yield GeneratedFragment(
                fragment=request.fragment,
                prompt=request.prompt,
                trajectories=own,
                images=images[first : first + number],
                seeds=plan.seeds[first : first + number],
                generate_seconds=(drawn - started) * share,
                decode_seconds=(decoded - drawn) * share,
            )
            first += number

    def _bind_for(self, purpose: Purpose) -> None:
        """Bind the weights that `purpose` is drawn with, if the live modules hold others."""
        is_evaluated = self._has_evaluated and purpose is not Purpose.TRAIN
        wanted = _BoundWeights.EVALUATION if is_evaluated else _BoundWeights.TRAINING
        if wanted is not self._bound:
            assert self._pulled is not None, "kept wherever other weights may be bound"
            self._bound = _BoundWeights.NONE
            self._bind(self._pulled, evaluated=is_evaluated)
            self._bound = wanted

    def _bind(
        self, version: PublishedVersion, *, received: BindableVersion | None = None, evaluated: bool = False
    ) -> PullReceipt:
        """Bind a version on every GPU of the lane; what was `received` is in this process's memory alone."""
        own = partial(bind, self._model.trainable, version if received is None else received, evaluated=evaluated)
        return own() if self._followers is None else self._followers.bind(own, version, evaluated=evaluated)

    def _plan(self, request: GenerationRequest) -> DrawingPlan:
        """The drawing plan of one fragment."""
        fragment, sampling = request.fragment, self._spec.sampling
        key = fragment.key
        seeds = tuple(
            trajectory_seed(request.run_seed, key.purpose, key.batch, request.prompt_index, member, draw=fragment.draw)
            for member in fragment.members
        )
        conditioning = self._model.conditioning(request.prompt, sampling)
        shape = self._model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
        if key.purpose is not Purpose.TRAIN:
            latents = initial_noise(seeds, shape)
            return DrawingPlan(requests=(request,), seeds=seeds, latents=latents, conditioning=conditioning)
        if self._spec.algorithm.shares_initial_noise:
            first = trajectory_seed(
                request.run_seed, key.purpose, key.batch, request.prompt_index, 0, draw=fragment.draw
            )
            latents = initial_noise([first], shape).repeat(len(seeds), *[1] * len(shape))
        else:
            latents = initial_noise(seeds, shape)
        return DrawingPlan(
            requests=(request,),
            seeds=seeds,
            latents=latents,
            conditioning=conditioning,
            log_prob_conditioning=self._log_prob_conditioning(request.prompt),
            steps=steps_of_group(self._spec, key.batch, request.prompt_index),
            keep_means=self._keeps_means(fragment),
        )

    def _draw(self, plan: DrawingPlan) -> tuple[torch.Tensor, list[Trajectories | None]]:
        """The clean latents (N, ...) of a plan, and for each of its fragments the trajectories where it trains."""
        rows, draw = range(len(plan.seeds)), partial(self._draw_rows, plan)
        # Prompts of several fragments have a row for each trajectory: those are drawn one by one before they are cut.
        drawn = [draw(rows)] if len(plan.requests) > 1 else self._drawing(rows, draw)
        clean = drawn[0][0] if len(drawn) == 1 else torch.cat([part for part, _ in drawn])
        _check_finite(clean, plan)
        if plan.steps is None:
            return clean, [None] * len(plan.requests)
        transitions = Transitions.joined([part for _, part in drawn if part is not None])
        split = [transitions] if len(plan.requests) == 1 else transitions.split(plan.numbers)
        seeds, cleans = iter(plan.seeds), clean.split(plan.numbers)
        return clean, [
            self._trajectories(request, plan.steps, own, its_clean, tuple(islice(seeds, len(its_clean))))
            for request, own, its_clean in zip(plan.requests, split, cleans, strict=True)
        ]

    def _draw_rows(self, plan: DrawingPlan, rows: Sequence[int]) -> tuple[torch.Tensor, Transitions | None]:
        """The clean latents of consecutive `rows` of a plan, and their transitions where they are trained on."""
        own = slice(rows[0], rows[-1] + 1)
        if plan.steps is None:
            return sample_ode(self._model, plan.latents[own], self._eval_sigmas, plan.conditioning), None
        return sample_sde(
            self._model,
            plan.latents[own],
            self._kernel,
            plan.conditioning,
            steps=plan.steps,
            seeds=plan.seeds[own],
            keep_means=plan.keep_means,
            log_prob_conditioning=plan.log_prob_conditioning,
        )

    def _decode(self, clean: torch.Tensor, rows: Sequence[int]) -> np.ndarray:
        """The samples of consecutive `rows` of latents."""
        sampling = self._spec.sampling
        return self._model.decode(
            clean[rows[0] : rows[-1] + 1],
            height=sampling.height,
            width=sampling.width,
            num_frames=sampling.num_frames,
        )

    def _texts(self, prompt: Prompt) -> list[str]:
        """What is encoded for a prompt, so that new prompts of one call load the text encoders once."""
        sampling = self._spec.sampling
        return [text for training in (False, True) for text in self._model.texts(prompt, sampling, training=training)]

    def _log_prob_conditioning(self, prompt: Prompt) -> Conditioning | None:
        """What the policy is trained with, where its guidance differs from that of sampling; else `None`."""
        sampling = self._spec.sampling
        if sampling.trains_as_it_samples:
            return None
        return self._model.conditioning(prompt, sampling, training=True)

    def _keeps_means(self, fragment: Fragment) -> bool:
        """Whether a fragment's means are stored: always where the algorithm needs them, and in the first mini-batch for
        the replay gate, which only compares data before the first optimizer step on the batch."""
        needs = self._spec.algorithm.needs
        is_gated = needs.log_probs and self._spec.algebra.minibatch_of(fragment.key.group) == 0
        return needs.old_means or is_gated

    def _trajectories(
        self,
        request: GenerationRequest,
        steps: GroupSteps,
        transitions: Transitions,
        clean: torch.Tensor,
        seeds: tuple[int, ...],
    ) -> Trajectories:
        return Trajectories(
            fragment=request.fragment,
            prompt=request.prompt,
            members=request.fragment.members,
            sde_indices=steps.trained,
            sigmas=self._kernel.sigmas.cpu(),
            states=transitions.states,
            log_probs=transitions.log_probs,
            means=transitions.means,
            # Copied outside inference mode, since autograd refuses tensors that are created inside.
            clean=clean.to("cpu", copy=True) if self._spec.algorithm.needs.clean_latents else None,
            seeds=seeds,
        )

    def _sigmas(self, num_denoising_steps: int) -> torch.Tensor:
        sampling = self._spec.sampling
        return self._model.sigmas(
            num_denoising_steps, height=sampling.height, width=sampling.width, num_frames=sampling.num_frames
        )


def _check_finite(latents: torch.Tensor, plan: DrawingPlan) -> None:
    """Raise `NonFiniteError` for the first member of `latents` (N, ...) that holds NaN or infinity."""
    broken = (~torch.isfinite(latents).flatten(1).all(1)).nonzero().flatten().tolist()
    if broken:
        members = [(request, member) for request in plan.requests for member in request.fragment.members]
        request, member = members[broken[0]]
        value = latents[broken[0]][~torch.isfinite(latents[broken[0]])][0]
        where = f"prompt {request.prompt.text!r}, member {member}, policy version {request.fragment.policy_version}"
        raise NonFiniteError("latents", where, float(value))
