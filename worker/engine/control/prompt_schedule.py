"""The prompt of every group: a pure function of run seed and batch, so that the batch number alone resumes the data.

A pass visits the prompts in a seeded order, a batch at a time. A batch holds each prompt at most once. Where the number
of prompts is no multiple of the batch's, the last prompts of the pass are skipped, others in each pass.
"""

from collections.abc import Sequence

import numpy as np

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import MAX_DEFAULT_EVALUATION_PROMPTS
from worker.scheduling.core.messages import FragmentKey, Purpose

_ORDER_STREAM = 1
"""Part of the seed of the order, so that its random stream differs from others that start from the run's seed."""


def prompt_order(*, seed: int, batch: int, num_prompts: int, num_prompts_per_batch: int) -> tuple[int, ...]:
    """Indices into the run's prompts, one for each group of `batch` (from 0).

    Raises:
        ValueError: when a batch needs more prompts than there are.
    """
    if num_prompts_per_batch > num_prompts:
        raise ValueError(
            f"`batch.num_prompts_per_batch` must be ≤ {num_prompts} (the prompts of the run), "
            f"got {num_prompts_per_batch}: a batch holds each prompt at most once"
        )
    num_batches_per_pass = num_prompts // num_prompts_per_batch
    pass_index, batch_in_pass = divmod(batch, num_batches_per_pass)
    order = np.random.default_rng([_ORDER_STREAM, seed, pass_index]).permutation(num_prompts)
    first = batch_in_pass * num_prompts_per_batch
    return tuple(int(index) for index in order[first : first + num_prompts_per_batch])


class PromptSchedule:
    """Finds the prompt of any fragment. `requested` holds the prompts of the sample request under way."""

    def __init__(self, spec: RunSpec, prompts: Sequence[Prompt]) -> None:
        self._spec = spec
        self.of_run = tuple(prompts)
        self.held_out = spec.evaluation.prompts or self.of_run[:MAX_DEFAULT_EVALUATION_PROMPTS]
        self.requested: tuple[Prompt, ...] = ()
        _ = self._order(0)  # Refuses an uploaded set that is too small before models are loaded.

    def find(self, key: FragmentKey) -> tuple[int, Prompt]:
        """Index and record of the prompt of a fragment's group. The index counts the prompts of the fragment's purpose:
        those of the run, of evaluations, or of the request."""
        if key.purpose is Purpose.TRAIN:
            index = self._order(key.batch)[key.group]
            return index, self.of_run[index]
        prompts = self.held_out if key.purpose is Purpose.EVALUATE else self.requested
        return key.group, prompts[key.group]

    def _order(self, batch: int) -> tuple[int, ...]:
        return prompt_order(
            seed=self._spec.seed,
            batch=batch,
            num_prompts=len(self.of_run),
            num_prompts_per_batch=self._spec.batch.num_prompts_per_batch,
        )
