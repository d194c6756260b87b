"""What a trainer rank keeps between two optimizer steps, by ZeRO stage: the part of the memory plan that is measured.

Sources: mixed-precision state and its ZeRO partitions, Rajbhandari et al., arXiv 1910.02054, §3 and §5; DeepSpeed's own
buffers as two ranks were measured to hold them (`tests/engine/trainer`). Invariant: more ranks never take more.
"""

import math
from dataclasses import dataclass

FP32_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerState:
    """Bytes of one rank."""

    weights: float
    """Frozen and trained ones: all of them, or the rank's part."""
    optimizer: float
    """Moments, and DeepSpeed's master weights where it keeps its own."""
    gradients: float
    """Open ones, and the bucket that they go through; at most."""
    bucket: float
    """Of that, the bucket."""


def trainer_state(
    *,
    zero_stage: int,
    frozen_bytes: float,
    num_trained: float,
    num_ranks: int,
    weight_bytes: int = FP32_BYTES,
    bucket_numel: float = math.inf,
) -> TrainerState:
    """Of `num_trained` elements, and `frozen_bytes` beside them, in a gang of `num_ranks`.

    DeepSpeed keeps a master copy of each trained weight in stages 1 to 3, even of one in fp32; stage 1 holds gradients
    whole and as they are averaged. Gradients add up in fp32.

    Args:
        weight_bytes: of one trained weight as forward passes use it.
        bucket_numel: elements of the bucket that gradients are reduced in; no more than are trained.
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
