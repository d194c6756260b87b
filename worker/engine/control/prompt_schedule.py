"""Which prompt every group stands for: a pure function of run seed and batch, so the batch number is the data cursor.

A pass goes through the prompts in a seeded order, a batch at a time. A batch holds each prompt at most once; where the
batches of a pass do not use up all prompts, the rest of that pass is left out, and each pass leaves out others.
"""

from collections.abc import Sequence

import numpy as np

from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.messages import FragmentKey, Purpose

MAX_DEFAULT_EVALUATION_PROMPTS = 64
"""Of a large prompt set without evaluation prompts of its own, the first ones stand for all."""

_ORDER_STREAM = 1
"""Keeps the order's random stream apart from any other that starts from the run's seed."""


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
    number_of_pass, place = divmod(batch, num_batches_per_pass)
    order = np.random.default_rng([_ORDER_STREAM, seed, number_of_pass]).permutation(num_prompts)
    first = place * num_prompts_per_batch
    return tuple(int(index) for index in order[first : first + num_prompts_per_batch])


class PromptSchedule:
    """Finds the prompt of any fragment. `requested` holds the prompts of the request under way."""

    def __init__(self, spec: RunSpec, prompts: Sequence[str]) -> None:
        self._spec = spec
        self._prompts = tuple(prompts)
        self.held_out = spec.evaluation.prompts or self._prompts[:MAX_DEFAULT_EVALUATION_PROMPTS]
        self.requested: tuple[str, ...] = ()
        _ = self._order(0)  # refuses an uploaded set that is too small now, not after the models are loaded

    def find(self, key: FragmentKey) -> tuple[int, str]:
        """Index and text of the prompt of a fragment's group; the index is within the purpose's own prompts."""
        if key.purpose is Purpose.TRAIN:
            index = self._order(key.batch)[key.group]
            return index, self._prompts[index]
        prompts = self.held_out if key.purpose is Purpose.EVALUATE else self.requested
        return key.group, prompts[key.group]

    def _order(self, batch: int) -> tuple[int, ...]:
        return prompt_order(
            seed=self._spec.seed,
            batch=batch,
            num_prompts=len(self._prompts),
            num_prompts_per_batch=self._spec.batch.num_prompts_per_batch,
        )
