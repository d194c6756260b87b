"""All randomness of a trajectory, which follows from its position in the run alone.

A trajectory's seed is a hash of run seed, purpose, batch, prompt index, member and draw; every tensor of noise has a
generator of its own on the CPU. Invariant: any lane, on any device type, draws the same bits for a trajectory, alone or
in any batch.
"""

import hashlib
from collections.abc import Sequence

import torch

from worker.scheduling.core.messages import Purpose

SEED_BITS = 52
"""Seeds stay below 2**53, so that JSON and JavaScript show them exactly."""

INITIAL_STREAM = 0
"""The stream of a trajectory's x_T; denoising step i draws from stream i + 1."""


def trajectory_seed(
    run_seed: int, purpose: Purpose, batch: int, prompt_index: int, member: int, *, draw: int = 0
) -> int:
    """The seed of one trajectory, in [0, 2**52). A group that is drawn again has another `draw`, counted from 0.

    Seeds of evaluation and of requested samples do not depend on the batch, so that pictures of one prompt and member
    are comparable over a whole run. The purpose is part of the hash, so training never uses them.
    """
    effective_batch = batch if purpose is Purpose.TRAIN else 0
    again = f"/draw-{draw}" if draw else ""
    return _hash(f"{run_seed}/{purpose.value}/{effective_batch}/{prompt_index}/{member}{again}")


def initial_noise(seeds: Sequence[int], shape: Sequence[int]) -> torch.Tensor:
    """x_T of each seed: standard normal fp32 of (len(seeds), *shape), on the CPU."""
    return _draw(seeds, INITIAL_STREAM, shape)


def step_noise(seeds: Sequence[int], denoising_step: int, shape: Sequence[int]) -> torch.Tensor:
    """The noise of one stochastic denoising step (from 0): fp32 of (len(seeds), *shape), on the CPU."""
    return _draw(seeds, denoising_step + 1, shape)


def forward_noise(
    seeds: Sequence[int], optimizer_step: int, levels: Sequence[int], shape: Sequence[int]
) -> torch.Tensor:
    """The noise that training on the forward process adds to finished samples: fp32 of (len(seeds), *shape), on the
    CPU. `levels` (N,) are the indices of the samples' noise levels."""
    return _draw_streams(seeds, [f"forward/{optimizer_step}/{level}" for level in levels], shape)


def forward_position(seeds: Sequence[int], optimizer_step: int, levels: Sequence[int], num_levels: int) -> torch.Tensor:
    """The position of each sample's noise level along the schedule, (N,) in [0, 1): level i of `num_levels` is uniform
    in [i, i + 1) / `num_levels`."""
    drawn = torch.empty(len(seeds))
    generator = torch.Generator(device="cpu")
    for row, seed, level in zip(drawn, seeds, levels, strict=True):
        generator.manual_seed(_hash(f"{seed}:position/{optimizer_step}/{level}"))
        row.uniform_(generator=generator)
    return (torch.tensor(levels) + drawn) / num_levels


def _draw(seeds: Sequence[int], stream: int, shape: Sequence[int]) -> torch.Tensor:
    return _draw_streams(seeds, [str(stream)] * len(seeds), shape)


def _draw_streams(seeds: Sequence[int], streams: Sequence[str], shape: Sequence[int]) -> torch.Tensor:
    drawn = torch.empty(len(seeds), *shape)
    generator = torch.Generator(device="cpu")
    for row, seed, stream in zip(drawn, seeds, streams, strict=True):
        generator.manual_seed(_hash(f"{seed}:{stream}"))
        row.normal_(generator=generator)
    return drawn


def _hash(text: str) -> int:
    """A seed of `SEED_BITS` bits."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - SEED_BITS)
