"""What a lane must hold, by role, in bytes of its device: a split whose lanes do not hold it is not offered.

    rollout   frozen weights, adapter, decoder, one layer's activations of a fragment
    trainer   frozen weights, adapter, gradients and optimizer state (ZeRO cuts them), what the backward pass needs
    both      a trainer lane that generates too: one copy of the frozen weights, the fuller of its two phases

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
    def parts(self) -> dict[str, float]:
        """Bytes by what they hold."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}

    @property
    def total(self) -> float:
        return sum(self.parts.values())

    def fits(self, device: Accelerator) -> bool:
        return self.total <= device.memory_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerState:
    """Bytes that one rank keeps between two optimizer steps; checked against measurement for every stage."""

    weights: float
    """Frozen and trained ones: all of them, or the rank's part."""
    optimizer: float
    """Moments, and DeepSpeed's master weights where it keeps its own."""
    gradients: float
    """Open ones, and the bucket that they go through."""


def trainer_state(*, zero_stage: int, frozen_bytes: float, num_trained: float, num_ranks: int) -> TrainerState:
    """Of `num_trained` fp32 elements on a frozen base, in a gang of `num_ranks`.

    DeepSpeed keeps a master copy of each trained weight in stages 1 to 3, even of one in fp32; stage 1 holds gradients
    whole and as they are averaged.
    """
    trained = 4 * num_trained
    part = 1 / num_ranks
    return TrainerState(
        weights=(frozen_bytes + trained) * (part if zero_stage == 3 else 1.0),
        optimizer=2 * trained if zero_stage == 0 else 3 * trained * part,
        gradients={0: trained, 1: 3 * trained}.get(zero_stage, trained * (1 + part)),
    )


def lane_memory(work: Workload, device: Accelerator, duty: Duty, *, num_ranks: int = 1) -> LaneMemory:
    """The fullest moment of one lane on that duty, in a gang of `num_ranks`: of training or of generation."""
    phases = []
    if duty is not Duty.ROLLOUT:
        phases.append(_in_training(work, device, num_ranks, generates=duty is Duty.BOTH))
    if duty is not Duty.TRAINER:
        phases.append(_in_generation(work, device, num_ranks, trains=duty is Duty.BOTH))
    return max(phases, key=lambda memory: memory.total)


def _in_training(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    state = _state(work, num_ranks)
    adapter_bytes = work.lora_parameters * 4
    # A lane that does both generates with published bytes, beside the live weights; ZeRO 3 gathers the live ones too.
    copies = generates + (work.zero_stage == 3)
    return LaneMemory(
        weights=_base(work, num_ranks) + _gathered(work),
        adapter=adapter_bytes * copies + _live_adapter(work, num_ranks),
        gradients=state.gradients,
        optimizer=0.0 if work.saving.optimizer_on_host else state.optimizer,
        activations=_training_activations(work),
        decoder=_decoder(work) if generates else 0.0,
        trajectories=_trajectory_bytes(work) if generates else 0.0,
        reserve=_reserve(device),
    )


def _in_generation(work: Workload, device: Accelerator, num_ranks: int, *, trains: bool) -> LaneMemory:
    state = _state(work, num_ranks)
    is_idle_here = trains and not work.saving.idle_on_host
    # A shard cannot generate: the lane gathers the whole model beside its part.
    part = _base(work, num_ranks) if work.zero_stage == 3 and is_idle_here else 0.0
    adapter_bytes = work.lora_parameters * 4
    return LaneMemory(
        weights=work.profile.weights_bytes + part,
        adapter=adapter_bytes + (_live_adapter(work, num_ranks) if trains else 0.0),
        gradients=state.gradients if is_idle_here else 0.0,
        optimizer=state.optimizer if is_idle_here and not work.saving.optimizer_on_host else 0.0,
        activations=_generation_activations(work),
        decoder=_decoder(work),
        trajectories=_trajectory_bytes(work),
        reserve=_reserve(device),
    )


def _state(work: Workload, num_ranks: int) -> TrainerState:
    return trainer_state(
        zero_stage=work.zero_stage,
        frozen_bytes=work.profile.weights_bytes,
        num_trained=work.lora_parameters,
        num_ranks=num_ranks,
    )


def _base(work: Workload, num_ranks: int) -> float:
    """Frozen weights as a trainer rank keeps them on its device."""
    if work.zero_stage < 3:
        return work.profile.weights_bytes
    return 0.0 if work.saving.weights_on_host else work.profile.weights_bytes / num_ranks


def _gathered(work: Workload) -> float:
    """In ZeRO 3: a layer at work and the one fetched ahead. Layers that are not recomputed stay until the backward pass
    has gone through them, since autograd holds what they were multiplied with."""
    if work.zero_stage < 3:
        return 0.0
    num_kept = work.profile.num_layers - _num_recomputed(work)
    return work.profile.weights_bytes * min(num_kept + 2, work.profile.num_layers) / work.profile.num_layers


def _live_adapter(work: Workload, num_ranks: int) -> float:
    return work.lora_parameters * 4 / (num_ranks if work.zero_stage == 3 else 1)


def _num_recomputed(work: Workload) -> int:
    every = work.saving.recomputed_blocks
    return -(-work.profile.num_layers // every) if every else 0


def _decoder(work: Workload) -> float:
    return work.profile.decoder_parameters * work.profile.weight_bytes + _decoding_bytes(work)


def _reserve(device: Accelerator) -> float:
    return _RESERVE_BYTES * (1.0 if device.peak_flops > 1e12 else 0.1)


def _training_activations(work: Workload) -> float:
    """Of a recomputed layer its input is kept, of another all; one layer at a time is under way."""
    algebra = work.algebra
    pairs = min(algebra.micro_batch_size, algebra.group_size * algebra.num_denoising_steps_per_micro_batch)
    units = pairs * (work.num_tokens + work.profile.text_tokens) * work.profile.width
    num_recomputed = _num_recomputed(work)
    num_kept = work.profile.num_layers - num_recomputed
    under_way = _LAYER_BYTES if num_recomputed else 0
    return units * (_BF16_BYTES * num_recomputed + _LAYER_BYTES * num_kept + under_way)


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
