"""The batch algebra, resolved: how prompts become groups, fragments, micro-batches and optimizer steps.

A batch is `num_prompts_per_batch` groups of `group_size` trajectories of one policy version, cut into
`num_minibatches` by prompt index and gone through `num_epochs_per_batch` times; one optimizer step closes each
mini-batch of each epoch.
"""

import math
from typing import Self

from worker.contracts.base import Contract, Count
from worker.contracts.sections import BatchSpec, SamplingSpec


def nearest_divisors(number: int, wanted: int) -> tuple[int, ...]:
    """The divisors of `number` next below and next above `wanted`."""
    divisors = [d for d in range(1, number + 1) if number % d == 0]
    below = [d for d in divisors if d <= wanted][-1:]
    above = [d for d in divisors if d > wanted][:1]
    return tuple(below + above)


def _require_divides(field: str, value: int, whole_name: str, whole: int) -> None:
    if whole % value:
        proposals = " or ".join(str(d) for d in nearest_divisors(whole, value))
        raise ValueError(f"`{field}` must divide {whole_name} ({whole}), got {value}: use {proposals}")


class BatchAlgebra(Contract):
    """Every derived count of a run, printed at its start and stored with it."""

    num_groups: Count
    group_size: Count
    num_trajectories: Count
    fragment_size: Count
    num_fragments: Count
    num_minibatches: Count
    num_epochs: Count
    num_groups_per_minibatch: Count
    num_trained_denoising_steps: Count
    """Or noise levels, for an algorithm that noises finished samples anew."""
    num_trained_members: Count | None = None
    """Units that a group makes at each of those; empty: one for each trajectory."""
    num_pairs_per_optimizer_step: Count
    micro_batch_size: Count
    num_denoising_steps_per_micro_batch: Count
    """Several where a group alone does not fill a micro-batch."""
    num_micro_batches_per_optimizer_step: Count
    num_optimizer_steps_per_batch: Count

    @classmethod
    def resolve(
        cls,
        batch: BatchSpec,
        sampling: SamplingSpec,
        *,
        num_trained_steps: int | None = None,
        num_trained_members: int | None = None,
    ) -> Self:
        """Derive every count. Raises `ValueError`, proposing the nearest numbers that divide.

        Without the last two, every trajectory is trained at every stochastic denoising step.
        """
        _require_divides(
            "batch.num_minibatches",
            batch.num_minibatches,
            "batch.num_prompts_per_batch",
            batch.num_prompts_per_batch,
        )
        fragment_size = batch.group_size if batch.fragment_size is None else batch.fragment_size
        _require_divides("batch.fragment_size", fragment_size, "batch.group_size", batch.group_size)
        num_trajectories = batch.num_prompts_per_batch * batch.group_size
        per_minibatch = batch.num_prompts_per_batch // batch.num_minibatches
        num_sde = len(sampling.sde_indices) if num_trained_steps is None else num_trained_steps
        num_members = batch.group_size if num_trained_members is None else num_trained_members
        pairs_per_group = num_members * num_sde
        # Micro-batches never span groups, so that packing does not depend on which groups arrive together.
        num_chunks = math.ceil(num_members / batch.micro_batch_size)
        steps_per_micro_batch = min(num_sde, max(1, batch.micro_batch_size // num_members))
        micro_batches_per_group = num_chunks * math.ceil(num_sde / steps_per_micro_batch)
        return cls(
            num_groups=batch.num_prompts_per_batch,
            group_size=batch.group_size,
            num_trajectories=num_trajectories,
            fragment_size=fragment_size,
            num_fragments=num_trajectories // fragment_size,
            num_minibatches=batch.num_minibatches,
            num_epochs=batch.num_epochs_per_batch,
            num_groups_per_minibatch=per_minibatch,
            num_trained_denoising_steps=num_sde,
            num_trained_members=None if num_members == batch.group_size else num_members,
            num_pairs_per_optimizer_step=per_minibatch * pairs_per_group,
            micro_batch_size=batch.micro_batch_size,
            num_denoising_steps_per_micro_batch=steps_per_micro_batch,
            num_micro_batches_per_optimizer_step=per_minibatch * micro_batches_per_group,
            num_optimizer_steps_per_batch=batch.num_minibatches * batch.num_epochs_per_batch,
        )

    @property
    def num_units_per_group(self) -> int:
        """What micro-batches are cut from: a group's trajectories, or what an algorithm makes of them."""
        return self.group_size if self.num_trained_members is None else self.num_trained_members

    def minibatch_of(self, group: int) -> int:
        """The mini-batch a group belongs to: by prompt index, never by arrival."""
        return group // self.num_groups_per_minibatch

    def describe(self) -> str:
        """One sentence for the log and the form."""
        return (
            f"{_counted(self.num_groups, 'prompt')} × {self.group_size} = "
            f"{_counted(self.num_trajectories, 'trajectory')} a batch, "
            f"in {_counted(self.num_fragments, 'fragment')} of {self.fragment_size}; "
            f"{_counted(self.num_minibatches, 'mini-batch')} × {_counted(self.num_epochs, 'epoch')} = "
            f"{_counted(self.num_optimizer_steps_per_batch, 'optimizer step')} a batch, each over "
            f"{self.num_pairs_per_optimizer_step} (trajectory, denoising step) pairs "
            f"in {_counted(self.num_micro_batches_per_optimizer_step, 'micro-batch')} of up to {self.micro_batch_size}"
        )


def _counted(number: int, noun: str) -> str:
    """`1 epoch`, `2 epochs`, `3 mini-batches`, `4 trajectories`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"
