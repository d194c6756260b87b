"""What a trainer rank keeps in memory between two optimizer steps, by ZeRO stage.

This part of the memory plan is checked by measuring (`tests/engine/trainer`). Sources: mixed-precision state and its
ZeRO partitions, Rajbhandari et al., arXiv 1910.02054, §3 and §5; DeepSpeed's own buffers as measured on two ranks.
Invariant: more ranks never take more.
"""

import math
from dataclasses import dataclass

FP32_BYTES = 4
"""Bytes of one fp32 value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerState:
    """Bytes of one rank."""

    weights: float
    """Frozen and trained weights: all of them, or the rank's shard."""
    optimizer: float
    """Moments, and DeepSpeed's master weights where it keeps its own."""
    gradients: float
    """Open gradients and the bucket that they are reduced in, at their largest."""
    bucket: float
    """The part of `gradients` in the bucket."""


def trainer_state(
    *,
    zero_stage: int,
    frozen_bytes: float,
    num_trained: float,
    num_ranks: int,
    weight_bytes: int = FP32_BYTES,
    bucket_numel: float = math.inf,
) -> TrainerState:
    """The state of one rank that trains `num_trained` elements beside `frozen_bytes`, in a gang of `num_ranks`.

    DeepSpeed keeps a master copy of each trained weight in stages 1 to 3, even of one in fp32. Stage 1 holds gradients
    in full, both accumulated and averaged. Gradients are accumulated in fp32.

    Args:
        weight_bytes: bytes of one trained weight as forward passes use it.
        bucket_numel: the largest number of elements in the bucket in which gradients are reduced.
    """
    trained, part = FP32_BYTES * num_trained, 1 / num_ranks
    gradients = {0: trained, 1: 2 * trained}.get(zero_stage, trained * part)
    bucket = min(num_trained, bucket_numel) * FP32_BYTES if zero_stage else 0.0
    return TrainerState(
        weights=(frozen_bytes + weight_bytes * num_trained) * (part if zero_stage == 3 else 1.0),
        optimizer=2 * trained if zero_stage == 0 else 3 * trained * part,
        gradients=gradients + bucket,
        bucket=bucket,
    )
