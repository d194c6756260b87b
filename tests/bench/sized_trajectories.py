"""Trajectories of a given size, to measure how they travel."""

import torch

from worker.contracts.prompts import Prompt
from worker.engine.types import Trajectories
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NUM_STEPS = 7
"""Stored denoising steps; with one more for the latents after the last, a size is divided into eight tensors."""
NUM_MEMBERS = 4


def trajectories_of(num_bytes: int) -> Trajectories:
    """Trajectories whose latents have `num_bytes`."""
    steps = tuple(range(NUM_STEPS))
    shape = (NUM_MEMBERS, num_bytes // (4 * NUM_MEMBERS * (NUM_STEPS + 1)))
    return Trajectories(
        fragment=Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), tuple(range(NUM_MEMBERS)), 0),
        prompt=Prompt(text="a prompt"),
        members=tuple(range(NUM_MEMBERS)),
        sde_indices=steps,
        sigmas=torch.linspace(1, 0, NUM_STEPS + 1),
        # Side by side in memory, as sampling stores them.
        states=dict(enumerate(torch.randn(NUM_STEPS + 1, *shape))),
        log_probs=torch.zeros(NUM_MEMBERS, NUM_STEPS),
        means={},
    )
