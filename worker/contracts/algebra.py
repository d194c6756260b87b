"""The batch algebra: the `batch` section of a `RunSpec`, and every count that follows from it.

A batch is `num_prompts_per_batch` groups of `group_size` trajectories of one policy version. It is split into
`num_minibatches` by prompt index and trained on `num_epochs_per_batch` times; one optimizer step closes each mini-batch
of each epoch.
"""

import math
from typing import Annotated, Self

from pydantic import Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.sections import SamplingSpec
from worker.contracts.spec_bounds import (
    MAX_EPOCHS_PER_BATCH,
    MAX_GROUP_SIZE,
    MAX_PAIRS_PER_GROUP,
    MAX_PROMPTS_PER_BATCH,
)

MAX_PIXELS_PER_CALL = 3 * 2**15
"""Pixels of all frames of the trajectories of several fragments that are generated in one call: 1.5 pictures of 256 ×
256. Models draw a larger picture alone, so calls of several fragments need less memory than other runs of the same
model. The demo (4 tokens a picture, nine fragments of 16) generates a batch in two calls, which take 12 % less CPU than
three of 48; a single call takes no less, and training would have to wait for all of it."""


class BatchSpec(Contract):
    """How a batch is made up, in prompts, groups and optimizer steps; every other count follows from these."""

    num_prompts_per_batch: Annotated[int, Field(ge=1, le=MAX_PROMPTS_PER_BATCH)] = 8
    """Groups in a batch, each of a prompt of its own. Usual: 16 to 48 (Flow-GRPO trains on 48 groups of 24), fewer for
    clips. More prompts make the gradient less noisy and each batch longer."""
    group_size: Annotated[int, Field(ge=2, le=MAX_GROUP_SIZE)] = 8
    """Trajectories of one prompt; each is compared with the others of its group. Usual: 12 (DanceGRPO), 16
    (Qwen-Image), 24 (Flow-GRPO), 4 to 8 for clips. Raise it when many groups have equal rewards (the share of groups
    with zero spread), since those teach nothing."""
    num_minibatches: Annotated[int, Field(ge=1, le=MAX_PROMPTS_PER_BATCH)] = 1
    """Mini-batches that a batch is split into by prompt, each closed by one optimizer step; it must divide
    `num_prompts_per_batch`. 1 or 2 is usual (Flow-GRPO takes 2). More steps a batch learn faster, but the later ones
    train on samples of an older policy."""
    num_epochs_per_batch: Annotated[int, Field(ge=1, le=MAX_EPOCHS_PER_BATCH)] = 1
    """Passes through the batch. 1 is usual; more learn more from samples that are dear to generate, with
    `num_minibatches` × this optimizer steps a batch. Lower it when the clip fraction is high: the last passes then
    hardly change the policy."""
    micro_batch_size: Annotated[int, Field(ge=1, le=MAX_PAIRS_PER_GROUP)] = 8
    """(trajectory, denoising step) pairs in one forward and backward pass on one lane. Activation memory grows in
    proportion: 1 to 3 fits models of 12 billion parameters and more at 512 × 512. The result does not depend on it but
    for rounding; raise it until memory or speed stops gaining."""
    fragment_size: Annotated[int, Field(ge=1, le=MAX_GROUP_SIZE)] | None = None
    """Trajectories of one group that a lane generates together; it must divide `group_size`. Empty: the whole group,
    or with `placement: auto` what is predicted to be fastest, which may change while the run works unless it is
    `deterministic`. Smaller fragments share the work out more evenly over the lanes and need less memory; larger ones
    use a GPU better. It fixes the batch of the forward pass, which short fragments share unless the run is
    `deterministic`, so it may change samples by rounding."""
    filter_groups: bool = False
    """Leave groups without spread out of training: those whose members all have the same reward, within float32's
    rounding, so that every advantage is 0. The loss still counts their pairs, so without a KL penalty what is learnt
    stays the same and training takes less time; with a `kl_coefficient` their part of the penalty is left out too. A
    mini-batch of nothing else takes no optimizer step, where it would otherwise be one of momentum and weight decay
    alone. Flow-GRPO's code drops such samples as well."""
    max_resamples: Annotated[int, Field(ge=0, le=10)] = 0
    """Times that a group without spread is drawn again, with other noise, before it is kept as it is. 0: never. 1 to 3
    suit rewards with few values, such as right or wrong, whose groups often teach nothing (DAPO's dynamic sampling
    draws other prompts instead). Each draw costs generation and scoring; prompts that are too easy or too hard stay
    without spread however often they are drawn. Dropped draws count nowhere, not in `advantage_std: batch` either."""


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
    """Groups in a batch."""
    group_size: Count
    """Trajectories in a group."""
    num_trajectories: Count
    """Trajectories in a batch."""
    fragment_size: Count
    """Trajectories in a fragment."""
    num_fragments: Count
    """Fragments in a batch."""
    num_trajectories_per_call: Count = 1
    """Most trajectories that a lane generates in one call of several fragments; a single fragment may have more."""
    num_minibatches: Count
    """Mini-batches in a batch."""
    num_epochs: Count
    """Passes through a batch."""
    num_groups_per_minibatch: Count
    """Groups in a mini-batch."""
    num_trained_denoising_steps: Count
    """Denoising steps at which each trajectory is trained on; noise levels, for an algorithm that adds noise to
    finished samples."""
    num_trained_members: Count | None = None
    """Units of training that a group makes at each of those steps or levels. Empty: one for each trajectory."""
    num_pairs_per_optimizer_step: Count
    """(trajectory, denoising step) pairs that one optimizer step is computed from."""
    micro_batch_size: Count
    """Most pairs in one forward and backward pass."""
    num_denoising_steps_per_micro_batch: Count
    """Denoising steps of the same trajectories in one micro-batch; more than 1 where a group alone does not fill it."""
    num_micro_batches_per_optimizer_step: Count
    """Micro-batches of all trainer lanes in one optimizer step."""
    num_optimizer_steps_per_batch: Count
    """Optimizer steps in a batch; fewer are taken where mini-batches without spread are skipped."""
    filter_groups: bool = False
    """Whether groups without spread are not trained on."""
    max_resamples: Index = 0
    """Most draws of a group after its first, each because the one before has no spread."""

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

        Args:
            batch: the spec's section of that name.
            sampling: the spec's section of that name.
            num_trained_steps: denoising steps or noise levels that are trained on; by default all stochastic steps.
            num_trained_members: units of training of a group at each of those; by default its trajectories.
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
            num_trajectories_per_call=max(1, MAX_PIXELS_PER_CALL // sampling.num_pixels),
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
            filter_groups=batch.filter_groups,
            max_resamples=batch.max_resamples,
        )

    def with_fragment_size(self, fragment_size: int) -> "BatchAlgebra":
        """The same batch cut into fragments of another size. Raises `ValueError` for one that does not divide."""
        _require_divides("fragment_size", fragment_size, "group_size", self.group_size)
        num_fragments = self.num_trajectories // fragment_size
        return self.model_copy(update={"fragment_size": fragment_size, "num_fragments": num_fragments})

    def first_epoch(self) -> "BatchAlgebra":
        """The same batch with a single pass through it."""
        return self.model_copy(update={"num_epochs": 1, "num_optimizer_steps_per_batch": self.num_minibatches})

    @property
    def num_units_per_group(self) -> int:
        """Units that micro-batches are split from: a group's trajectories, or the pairs that an algorithm makes of
        them."""
        return self.group_size if self.num_trained_members is None else self.num_trained_members

    @property
    def num_fragments_per_group(self) -> int:
        """Fragments of a group."""
        return self.num_fragments // self.num_groups

    @property
    def num_pairs_per_group(self) -> int:
        """Pairs of a group, each with one of its units."""
        return self.num_units_per_group * self.num_trained_denoising_steps

    def minibatch_of(self, group: int) -> int:
        """The mini-batch that a group belongs to: by prompt index, never by arrival."""
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
            f"{self._without_spread()}"
        )

    def _without_spread(self) -> str:
        """What happens to groups without spread, to be added to a sentence; empty where nothing does."""
        drawn = f"drawn again up to {_counted(self.max_resamples, 'time')}" if self.max_resamples else ""
        done = " and ".join(filter(None, (drawn, "not trained on" if self.filter_groups else "")))
        return f"; groups without spread are {done}" if done else ""


def _counted(number: int, noun: str) -> str:
    """`1 epoch`, `2 epochs`, `3 mini-batches`, `4 trajectories`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('tch') else 's'}"
