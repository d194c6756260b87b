"""Training on the forward process: noise is added to finished samples, and the loss is on the velocity predicted there.

Invariant: a unit's noise is seeded by its trajectory's seed, the index of its noise level and the number of optimizer
steps taken, never by rank or micro-batch. So every way to split the batch trains on the same values, and so does a run
that was resumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import ForwardProcess, ForwardProcessBatch, Preference
from worker.engine.algorithms.diffusion_dpo import preference_pairs
from worker.engine.models.conditioning import Conditioning
from worker.engine.rollout.noise import forward_noise, forward_position
from worker.engine.trainer.learners.base import GateMode, MicroBatchLoss, ProximalInput
from worker.engine.trainer.learners.member_rows import required_rows
from worker.engine.trainer.learners.transition_pairs import check_group
from worker.engine.trainer.policy.policies import Policies
from worker.engine.types import GroupBatch, Trajectories
from worker.scheduling.core.batching import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSamples:
    """The finished samples of one group, as far as this rank was given them; tensors on the CPU. A unit is one entry
    of `samples` at one noise level."""

    group: int
    prompt: Prompt
    parts: tuple[Trajectories, ...]
    advantages: torch.Tensor
    """(members,)"""
    seeds: dict[int, int]
    """By member: the seed of its trajectory."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,): the schedule along which noise levels are drawn."""
    samples: tuple[tuple[int, ...], ...]
    """The members that are trained on together: each alone, or a winner and its loser."""
    num_levels: int
    """The number of noise levels that each entry of `samples` is trained at."""

    @classmethod
    def of(cls, group: GroupBatch, num_levels: int, samples: Sequence[tuple[int, ...]]) -> "FinishedSamples":
        """The group's finished samples.

        Raises:
            ValueError: as `check_group`, or when the trajectories carry no finished samples.
            NonFiniteError: as `check_group`.
        """
        check_group(group)
        if any(part.clean is None for part in group.trajectories):
            raise ValueError(f"trajectories of group {group.group} must carry `clean`: rollout kept no finished sample")
        return cls(
            group=group.group,
            prompt=group.trajectories[0].prompt,
            parts=group.trajectories,
            advantages=torch.tensor(group.advantages, dtype=torch.float32),
            seeds={
                member: seed
                for part in group.trajectories
                for member, seed in zip(part.members, part.seeds, strict=True)
            },
            sigmas=group.trajectories[0].sigmas,
            samples=tuple(samples),
            num_levels=num_levels,
        )

    def clean(self, members: Sequence[int], device: torch.device) -> torch.Tensor:
        """x0 of `members`, (len(members), ...) fp32. Raises `ValueError` where no part holds one of them."""
        return required_rows(
            self.parts, lambda part: part.clean, members, device, group=self.group, what="finished samples"
        )

    def describe(self, unit: int) -> str:
        """As `PreparedGroup.describe`."""
        members = " and ".join(str(member) for member in self.samples[unit // self.num_levels])
        return f"group {self.group}, member {members}, noise level {unit % self.num_levels}"


class _ForwardProcessLearner:
    """What the learners below share: the noise, and the forward passes that the algorithm needs."""

    def __init__(
        self,
        policies: Policies,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        """`num_optimizer_steps` returns how many steps were taken so far, which seeds the noise."""
        self._policies = policies
        self._model = policies.model
        self._spec = spec
        self._needs = spec.algorithm.needs
        self._num_levels = spec.algebra.num_trained_denoising_steps
        self._num_optimizer_steps = num_optimizer_steps

    def conditioning(self, prompt: Prompt) -> Conditioning:
        return self._model.conditioning(prompt, self._spec.sampling, training=True)

    def _predict(
        self, prepared: FinishedSamples, micro: MicroBatch, conditioning: Conditioning, *, which: int
    ) -> ForwardProcessBatch:
        """Noise and predictions for member number `which` of each unit's sample; the noise is that of member 0."""
        device = self._model.device
        units = [prepared.samples[unit // prepared.num_levels] for unit in micro.pairs]
        levels = [unit % prepared.num_levels for unit in micro.pairs]
        members = [unit[which] for unit in units]
        seeds = [prepared.seeds[unit[0]] for unit in units]
        step, clean = self._num_optimizer_steps(), prepared.clean(members, device)
        positions = forward_position(seeds, step, levels, prepared.num_levels)
        samples = ForwardProcessBatch(
            clean=clean,
            noise=forward_noise(seeds, step, levels, clean.shape[1:]).to(device),
            sigmas=_sigmas_at(prepared.sigmas, positions).to(device),
            velocities=clean,
            old_velocities=None,
            reference_velocities=None,
            advantages=prepared.advantages[members].to(device),
        )
        return self._with_velocities(samples, conditioning)

    def _with_velocities(self, samples: ForwardProcessBatch, conditioning: Conditioning) -> ForwardProcessBatch:
        noisy, old, reference = samples.noisy, None, None
        with torch.no_grad():
            if self._needs.second_adapter:
                assert self._policies.behaviour is not None, "made wherever the algorithm needs it"
                old = self._policies.behaviour.velocity(noisy, samples.sigmas, conditioning)
            if self._needs.reference:
                assert self._policies.reference is not None, "made wherever the algorithm needs it"
                reference = self._policies.reference.velocity(noisy, samples.sigmas, conditioning)
        return ForwardProcessBatch(
            clean=samples.clean,
            noise=samples.noise,
            sigmas=samples.sigmas,
            velocities=self._policies.velocity(noisy, samples.sigmas, conditioning),
            old_velocities=old,
            reference_velocities=reference,
            advantages=samples.advantages,
        )


class SampleLearner(_ForwardProcessLearner):
    """Trains on each finished sample by itself."""

    def __init__(
        self,
        policies: Policies,
        algorithm: ForwardProcess,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        super().__init__(policies, spec, num_optimizer_steps)
        self._algorithm = algorithm

    def prepare(self, group: GroupBatch) -> FinishedSamples:
        """Every member of the group. Raises as `FinishedSamples.of`."""
        return FinishedSamples.of(group, self._num_levels, [(member,) for member in range(len(group.advantages))])

    def __call__(
        self,
        prepared: FinishedSamples,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: GateMode,
        is_monitored: bool,
        proximal: ProximalInput,
    ) -> MicroBatchLoss:
        terms = self._algorithm.terms(self._predict(prepared, micro, conditioning, which=0))
        return MicroBatchLoss(losses=terms.loss, kl=terms.kl)


class PreferenceLearner(_ForwardProcessLearner):
    """Trains on pairs of the best and the worst samples of a group."""

    def __init__(
        self,
        policies: Policies,
        algorithm: Preference,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        super().__init__(policies, spec, num_optimizer_steps)
        self._algorithm = algorithm

    def prepare(self, group: GroupBatch) -> FinishedSamples:
        """The group's preference pairs. Raises as `FinishedSamples.of`."""
        pairs = preference_pairs(group.advantages, self._spec.algebra.num_units_per_group)
        return FinishedSamples.of(group, self._num_levels, pairs)

    def __call__(
        self,
        prepared: FinishedSamples,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: GateMode,
        is_monitored: bool,
        proximal: ProximalInput,
    ) -> MicroBatchLoss:
        winners = self._predict(prepared, micro, conditioning, which=0)
        losers = self._predict(prepared, micro, conditioning, which=1)
        return MicroBatchLoss(losses=self._algorithm.terms(winners, losers).loss)


def _sigmas_at(schedule: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Sigmas (N,) at `positions` (N,) in [0, 1) along the schedule, linear between its denoising steps. They are above
    0, and shifted towards noise as the family's schedule is."""
    steps = positions * (len(schedule) - 1)
    before = steps.long().clamp(max=len(schedule) - 2)
    share = steps - before
    return schedule[before] * (1 - share) + schedule[before + 1] * share
