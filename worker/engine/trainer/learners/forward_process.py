"""Training on the forward process: finished samples are noised anew, and what is predicted there is judged.

The noise of a unit follows from its trajectory's seed, the noise level's place and the optimizer steps taken, never
from rank or packing: every cut of the batch trains on the same values, and so does a run that was resumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import ForwardProcess, ForwardProcessBatch, Preference
from worker.engine.algorithms.diffusion_dpo import preferences
from worker.engine.models.base import Conditioning
from worker.engine.rollout.noise import forward_noise, forward_position
from worker.engine.trainer.learners.replay import Gate, Replayed
from worker.engine.trainer.learners.transition_pairs import check_group
from worker.engine.trainer.policy.policies import Policies
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanGroup:
    """The finished samples of one group; tensors on the CPU. Units: each entry of `units` at each noise level."""

    group: int
    prompt: str
    clean: torch.Tensor
    """(members, ...) fp32"""
    advantages: torch.Tensor
    """(members,)"""
    seeds: tuple[int, ...]
    """Of each member's trajectory."""
    sigmas: torch.Tensor
    """The schedule that noise levels are drawn on."""
    units: tuple[tuple[int, ...], ...]
    """Members that belong together: one alone, or winner and loser."""
    num_levels: int

    def __len__(self) -> int:
        return len(self.units) * self.num_levels

    @classmethod
    def of(cls, group: GroupBatch, num_levels: int, units: Sequence[tuple[int, ...]]) -> "CleanGroup":
        """Raises `ValueError` and `NonFiniteError` as `check_group`."""
        check_group(group)
        clean = [fragment.clean for fragment in group.trajectories if fragment.clean is not None]
        if len(clean) < len(group.trajectories):
            raise ValueError(f"trajectories of group {group.group} must carry `clean`: rollout kept no finished sample")
        return cls(
            group=group.group,
            prompt=group.trajectories[0].prompt,
            clean=torch.cat(clean),
            advantages=torch.tensor(group.advantages, dtype=torch.float32),
            seeds=tuple(seed for fragment in group.trajectories for seed in fragment.seeds),
            sigmas=group.trajectories[0].sigmas,
            units=tuple(units),
            num_levels=num_levels,
        )

    def place(self, unit: int) -> str:
        members = " and ".join(str(member) for member in self.units[unit // self.num_levels])
        return f"group {self.group}, member {members}, noise level {unit % self.num_levels}"


class _ForwardProcessLearner:
    """What learners on the forward process share: noise, and the forward passes that the algorithm needs."""

    def __init__(
        self,
        policies: Policies,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        """`num_optimizer_steps` taken so far seed the noise."""
        self._policies = policies
        self._model = policies.model
        self._spec = spec
        self._needs = spec.algorithm.needs
        self._num_levels = spec.algebra.num_trained_denoising_steps
        self._num_optimizer_steps = num_optimizer_steps

    def conditioning(self, prompt: str) -> Conditioning:
        return self._model.conditioning(prompt, self._spec.sampling, training=True)

    def _predict(
        self, held: CleanGroup, micro: MicroBatch, conditioning: Conditioning, member_of: int
    ) -> ForwardProcessBatch:
        """At each unit of the micro-batch, its member number `member_of`; noise is that of its first one."""
        device = self._model.device
        units = [held.units[unit // held.num_levels] for unit in micro.pairs]
        levels = [unit % held.num_levels for unit in micro.pairs]
        members = torch.tensor([unit[member_of] for unit in units])
        seeds = [held.seeds[unit[0]] for unit in units]
        step, clean = self._num_optimizer_steps(), held.clean[members]
        samples = ForwardProcessBatch(
            clean=clean.to(device),
            noise=forward_noise(seeds, step, levels, clean.shape[1:]).to(device),
            sigmas=_on_schedule(held.sigmas, forward_position(seeds, step, levels, held.num_levels)).to(device),
            velocities=clean,
            old_velocities=None,
            reference_velocities=None,
            advantages=held.advantages[members].to(device),
        )
        return self._with_velocities(samples, conditioning)

    def _with_velocities(self, samples: ForwardProcessBatch, conditioning: Conditioning) -> ForwardProcessBatch:
        noisy, old, reference = samples.noisy, None, None
        with torch.no_grad():
            if self._needs.second_adapter:
                assert self._policies.second is not None, "made wherever the algorithm needs it"
                old = self._policies.second.velocity(noisy, samples.sigmas, conditioning)
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
    """Each finished sample by itself."""

    def __init__(
        self,
        policies: Policies,
        algorithm: ForwardProcess,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        super().__init__(policies, spec, num_optimizer_steps)
        self._algorithm = algorithm

    def take(self, group: GroupBatch) -> CleanGroup:
        return CleanGroup.of(group, self._num_levels, [(member,) for member in range(len(group.advantages))])

    def __call__(
        self,
        held: CleanGroup,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: Gate,
        is_watched: bool,
        is_stale: bool,
    ) -> Replayed:
        terms = self._algorithm.terms(self._predict(held, micro, conditioning, 0))
        return Replayed(losses=terms.loss, kl=terms.kl)


class PreferenceLearner(_ForwardProcessLearner):
    """The best samples of a group against its worst."""

    def __init__(
        self,
        policies: Policies,
        algorithm: Preference,
        spec: RunSpec,
        num_optimizer_steps: Callable[[], int],
    ) -> None:
        super().__init__(policies, spec, num_optimizer_steps)
        self._algorithm = algorithm

    def take(self, group: GroupBatch) -> CleanGroup:
        units = preferences(group.advantages, self._spec.algebra.num_units_per_group)
        return CleanGroup.of(group, self._num_levels, units)

    def __call__(
        self,
        held: CleanGroup,
        micro: MicroBatch,
        conditioning: Conditioning,
        *,
        gate: Gate,
        is_watched: bool,
        is_stale: bool,
    ) -> Replayed:
        winners = self._predict(held, micro, conditioning, 0)
        losers = self._predict(held, micro, conditioning, 1)
        return Replayed(losses=self._algorithm.terms(winners, losers).loss)


def _on_schedule(sigmas: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Sigma at each position in [0, 1) along the schedule, linear between its steps: above 0, shifted as the family's
    schedule is."""
    places = positions * (len(sigmas) - 1)
    before = places.long().clamp(max=len(sigmas) - 2)
    share = places - before
    return sigmas[before] * (1 - share) + sigmas[before + 1] * share
