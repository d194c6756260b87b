"""What a lane must hold, by role, in bytes of its device: a split whose lanes do not hold it is not offered.

    rollout   frozen weights, adapter, decoder, one layer's activations of a fragment
    trainer   frozen weights, adapter, gradients and optimizer moments (ZeRO partitions them), checkpointed activations
    both      a trainer lane that generates too: one copy of the frozen weights, the larger activations of the two

Text encoders are left out: prompts are encoded once and ahead. Invariant: more ranks, smaller fragments or smaller
micro-batches never take more.

Sources: mixed-precision state and its ZeRO partitions, Rajbhandari et al., arXiv 1910.02054, §3 and §5; activations of
a transformer layer, 34 bytes for each token and unit of width without the attention matrix, Korthikanti et al.,
arXiv 2205.05198, §4.1 (16-bit values).
"""

from dataclasses import dataclass, fields
from enum import StrEnum

from worker.pipeline.estimates import Workload
from worker.pipeline.hardware import GB, Accelerator

_BF16_BYTES = 2
_LAYER_BYTES = 34
"""Of one layer's activations under way in training, for each token and unit of width."""
_INFERENCE_LAYER_BYTES = 26
"""The same without what only the backward pass needs: residual, queries, keys, values, feed-forward at 4 × width."""
_DECODER_CHANNELS = 256
"""Widest feature map of the autoencoder at full resolution, of which input, output and one intermediate live at once;
clips are decoded a latent frame at a time."""
_RESERVE_BYTES = 1.0 * GB
"""Device context, communication buffers, what the allocator cannot use; a CPU lane's share is a tenth."""


class Duty(StrEnum):
    ROLLOUT = "rollout"
    TRAINER = "trainer"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneMemory:
    """Bytes of one lane, by what they hold."""

    weights: float
    adapter: float
    gradients: float = 0.0
    optimizer: float = 0.0
    activations: float
    decoder: float = 0.0
    trajectories: float = 0.0
    reserve: float

    @property
    def total(self) -> float:
        return float(sum(getattr(self, field.name) for field in fields(self)))

    def fits(self, device: Accelerator) -> bool:
        return self.total <= device.memory_bytes


def lane_memory(work: Workload, device: Accelerator, duty: Duty, *, num_ranks: int = 1) -> LaneMemory:
    """What one lane holds on that duty, in a gang of `num_ranks`."""
    trains, generates = duty is not Duty.ROLLOUT, duty is not Duty.TRAINER
    frozen = work.profile.weights_bytes
    weights = frozen / num_ranks + 2 * frozen / work.profile.num_layers if work.zero_stage == 3 and trains else frozen
    if generates and work.zero_stage == 3:
        # A shard cannot generate: the lane gathers the whole model.
        weights = frozen
    adapter_bytes = work.lora_parameters * 4
    partition = 1 / num_ranks
    gradients = adapter_bytes * (partition if work.zero_stage >= 2 else 1.0)
    moments = 2 * adapter_bytes * (partition if work.zero_stage >= 1 else 1.0)
    decoder = work.profile.decoder_parameters * work.profile.weight_bytes + _decoding_bytes(work)
    return LaneMemory(
        weights=weights,
        # A lane that does both generates with published bytes, beside the live weights.
        adapter=adapter_bytes * (trains + generates),
        gradients=gradients if trains else 0.0,
        optimizer=moments if trains else 0.0,
        activations=max(
            _training_activations(work) if trains else 0.0, _generation_activations(work) if generates else 0.0
        ),
        decoder=decoder if generates else 0.0,
        trajectories=_trajectory_bytes(work) if generates else 0.0,
        reserve=_RESERVE_BYTES * (1.0 if device.peak_flops > 1e12 else 0.1),
    )


def _training_activations(work: Workload) -> float:
    """Each layer's input is kept, one layer at a time is recomputed whole."""
    algebra = work.algebra
    pairs = min(algebra.micro_batch_size, algebra.group_size * algebra.num_denoising_steps_per_micro_batch)
    units = pairs * (work.num_tokens + work.profile.text_tokens) * work.profile.width
    return units * (_BF16_BYTES * work.profile.num_layers + _LAYER_BYTES)


def _generation_activations(work: Workload) -> float:
    tokens = work.num_tokens + work.profile.text_tokens
    return work.algebra.fragment_size * tokens * work.profile.width * _INFERENCE_LAYER_BYTES


def _decoding_bytes(work: Workload) -> float:
    frames = min(work.num_frames, work.profile.token_frames)
    return 3 * _DECODER_CHANNELS * _BF16_BYTES * work.height * work.width * frames


_LATENT_CHANNELS_PER_TOKEN = 64
"""16 latent channels in patches of 2 × 2."""


def _trajectory_bytes(work: Workload) -> float:
    """Both ends of each stochastic denoising step in fp32, until the fragment is handed on."""
    algebra = work.algebra
    latents = work.num_tokens * _LATENT_CHANNELS_PER_TOKEN * 4
    return algebra.fragment_size * 2 * algebra.num_trained_denoising_steps * latents
