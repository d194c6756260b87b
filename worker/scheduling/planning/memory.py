"""What a lane must hold, by role, in bytes of its device: a split whose lanes do not hold it is not offered.

    rollout   weights, adapter, decoder, one layer's activations of a fragment
    trainer   weights, what is trained, gradients and optimizer state (ZeRO cuts them), copies, what the backward pass
              needs
    both      a trainer lane that generates too: the fuller of its two phases. LoRA generates on the same frozen
              weights; full tuning on a whole copy of its own, there while it generates

Text encoders are left out: prompts are encoded once and ahead. Invariant: more ranks, smaller fragments or smaller
micro-batches never take more.

Sources: state by ZeRO stage in `trainer_state`; activations of a transformer layer, 34 bytes for each token and unit of
width without the attention matrix, Korthikanti et al., arXiv 2205.05198, §4.1 (16-bit values).
"""

from dataclasses import dataclass, fields, replace
from enum import StrEnum

from worker.scheduling.planning.trainer_state import FP32_BYTES, TrainerState, trainer_state
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import GB, Accelerator

_BF16_BYTES = 2
_LAYER_BYTES = 34
"""Of one layer's activations under way in training, for each token and unit of width, in 16-bit values."""
_INFERENCE_LAYER_BYTES = 26
"""The same without what only the backward pass needs: residual, queries, keys, values, feed-forward at 4 × width."""
_DECODER_CHANNELS = 256
"""Widest feature map of the autoencoder at full resolution, of which input, output and one intermediate live at once;
of each clip decoded, a latent frame at a time."""
_RESERVE_BYTES = 1.0 * GB
"""Device context, communication buffers, what the allocator cannot use; a CPU lane's share is a tenth."""
MAX_BUCKET_NUMEL = 200_000_000
"""Elements of the bucket that gradients are reduced in, where more are trained; a test equates it with the engine's."""


class MemoryRole(StrEnum):
    ROLLOUT = "rollout"
    TRAINER = "trainer"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneMemory:
    """Bytes of one lane, by what they hold."""

    weights: float
    adapter: float
    copies: float = 0.0
    """Policies beside the one that is trained, and a version on its way out."""
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


def lane_memory(work: Workload, device: Accelerator, duty: MemoryRole, *, num_ranks: int = 1) -> LaneMemory:
    """The fullest moment of one lane on that duty, in a gang of `num_ranks`: of training, of generation, or between."""
    trains, generates = duty is not MemoryRole.ROLLOUT, duty is not MemoryRole.TRAINER
    moments = []
    if trains:
        moments += [
            _in_training(work, device, num_ranks, generates=generates),
            _in_publishing(work, device, num_ranks, generates=generates),
        ]
    if generates:
        moments.append(_in_generation(work, device, num_ranks, trains=trains))
    if trains and generates:
        moments.append(_in_turning(work, device, num_ranks))
    return max(moments, key=lambda memory: memory.total)


def host_bytes(work: Workload, *, num_ranks: int) -> float:
    """That one trainer lane keeps in its host's memory at most; what a gang publishes and pulls comes on top."""
    state, memory_savings = _state(work, num_ranks), work.memory_savings
    held = state.optimizer if memory_savings.optimizer_on_host or memory_savings.idle_on_host else 0.0
    if memory_savings.idle_on_host or (memory_savings.optimizer_on_host and work.zero_stage > 1):
        held += state.gradients - state.bucket
    if memory_savings.weights_on_host or (memory_savings.idle_on_host and work.is_full):
        held += state.weights
    return held


def _in_training(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    decodes = generates or work.passes.goes_through_decoder
    between = _between_steps(work, device, num_ranks, generates=generates)
    return replace(
        between,
        weights=between.weights + _gathered(work),
        # ZeRO 3 gathers the live adapter too.
        adapter=between.adapter + (work.trained_bytes if work.zero_stage == 3 and not work.is_full else 0.0),
        copies=between.copies + _snapshot_beside(work, num_ranks),
        activations=_training_activations(work),
        decoder=_decoder(work) if decodes else 0.0,
        trajectories=_trajectory_bytes(work) if generates else 0.0,
    )


def _in_publishing(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    between = _between_steps(work, device, num_ranks, generates=generates)
    return replace(between, copies=between.copies + _snapshot(work, num_ranks))


def _in_turning(work: Workload, device: Accelerator, num_ranks: int) -> LaneMemory:
    """What the lane generates with is made: of a base that is cut before the lane's own part may leave, of trained
    weights after."""
    between = _between_steps(work, device, num_ranks, generates=True)
    is_made = work.is_full or work.zero_stage == 3
    stays = 0.0 if work.memory_savings.idle_on_host else 1.0
    return replace(
        between,
        weights=between.weights * (stays if work.is_full else 1.0) + (work.weights_bytes if is_made else 0.0),
        copies=between.copies + _snapshot_beside(work, num_ranks),
        gradients=between.gradients * stays,
        optimizer=between.optimizer * stays,
    )


def _between_steps(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    """With gradients open. A lane that does both generates with an adapter of its own."""
    state = _state(work, num_ranks)
    generating = work.trained_bytes if generates else 0.0
    return LaneMemory(
        weights=_live_weights(work, num_ranks),
        adapter=0.0 if work.is_full else generating + _live_adapter(work, num_ranks),
        copies=_copies(work, num_ranks),
        gradients=_gradients(work, state),
        optimizer=0.0 if work.memory_savings.optimizer_on_host else state.optimizer,
        activations=0.0,
        reserve=_reserve(device),
    )


def _in_generation(work: Workload, device: Accelerator, num_ranks: int, *, trains: bool) -> LaneMemory:
    generating = LaneMemory(
        weights=work.weights_bytes,
        adapter=0.0 if work.is_full else work.trained_bytes,
        activations=_generation_activations(work),
        decoder=_decoder(work),
        trajectories=_trajectory_bytes(work),
        reserve=_reserve(device),
    )
    if not trains:
        return generating
    # LoRA generates on the frozen weights that it trains on; a shard cannot, and of trained weights there is a copy.
    has_two = (work.is_full or work.zero_stage == 3) and not work.memory_savings.idle_on_host
    state = _between_steps(work, device, num_ranks, generates=True)
    stays = 0.0 if work.memory_savings.idle_on_host else 1.0
    return replace(
        generating,
        weights=generating.weights + (state.weights if has_two else 0.0),
        adapter=state.adapter,
        copies=state.copies + _snapshot_beside(work, num_ranks),
        gradients=state.gradients * stays,
        optimizer=state.optimizer * stays,
    )


def _state(work: Workload, num_ranks: int) -> TrainerState:
    return trainer_state(
        zero_stage=work.zero_stage,
        frozen_bytes=0.0 if work.is_full else work.weights_bytes,
        num_trained=work.trained_parameters,
        num_ranks=num_ranks,
        weight_bytes=work.weight_bytes if work.is_full else FP32_BYTES,
        bucket_numel=MAX_BUCKET_NUMEL,
    )


def _gradients(work: Workload, state: TrainerState) -> float:
    """On the device. From stage 2 on, those of an optimizer in host memory lie there too."""
    if work.is_full and work.memory_savings.optimizer_on_host and work.zero_stage > 1:
        return state.bucket
    return state.gradients


def _live_weights(work: Workload, num_ranks: int) -> float:
    """The transformer's, as a trainer rank keeps them on its device."""
    if work.zero_stage < 3:
        return work.weights_bytes
    return 0.0 if work.memory_savings.weights_on_host else work.weights_bytes / num_ranks


def _gathered(work: Workload) -> float:
    """In ZeRO 3: a layer at work and the one fetched ahead. Layers that are not recomputed stay until the backward pass
    has gone through them, since autograd holds what they were multiplied with."""
    if work.zero_stage < 3:
        return 0.0
    num_layers = work.profile.num_layers
    num_kept = num_layers - work.num_recomputed_layers
    return work.weights_bytes / work.profile.num_experts * min(num_kept + 2, num_layers) / num_layers


def _live_adapter(work: Workload, num_ranks: int) -> float:
    return work.trained_bytes / (num_ranks if work.zero_stage == 3 else 1)


def _copies(work: Workload, num_ranks: int) -> float:
    """ZeRO 3 cuts them as it cuts the trained weights, but for LoRA's averages, which every rank has."""
    is_sharded, copies = work.zero_stage == 3, work.copies
    like_trained = work.trained_bytes * (copies.reference + copies.older)
    averages = FP32_BYTES * work.trained_parameters * copies.num_shadow_copies
    if is_sharded:
        like_trained = 0.0 if work.is_full and work.memory_savings.weights_on_host else like_trained / num_ranks
        averages = averages / num_ranks if work.is_full else averages
    return like_trained + averages


def _snapshot(work: Workload, num_ranks: int) -> float:
    """What is being published: an adapter whole, of all weights the rank's share."""
    return work.published_bytes / (num_ranks if work.is_full else 1)


def _snapshot_beside(work: Workload, num_ranks: int) -> float:
    """While the lane trains or generates: only what runs ahead does not wait for the publish."""
    return _snapshot(work, num_ranks) if work.copies.stale else 0.0


def _decoder(work: Workload) -> float:
    profile, fragment_size = work.profile, work.algebra.fragment_size
    value_bytes = FP32_BYTES if profile.decodes_in_fp32 else work.weight_bytes
    num_frames = min(work.num_frames, profile.token_frames)
    num_frames *= min(fragment_size, max(1, work.pixels_decoded_together // work.num_pixels))
    held = 3.0 * _DECODER_CHANNELS * value_bytes * work.height * work.width * num_frames
    if work.passes.goes_through_decoder:
        held += work.num_units_per_micro_batch * profile.decoder_values_per_pixel * work.num_pixels * value_bytes
    return profile.decoder_parameters * value_bytes + held


def _reserve(device: Accelerator) -> float:
    return _RESERVE_BYTES * (1.0 if device.peak_flops > 1e12 else 0.1)


def _training_activations(work: Workload) -> float:
    """Of a recomputed layer its input is kept, of another all; one layer at a time is under way. What a unit's several
    predictions keep lies side by side until the backward pass."""
    passes, profile = work.passes, work.profile
    tokens = (work.num_tokens + profile.text_tokens) * profile.width * work.num_units_per_micro_batch
    scale = work.weight_bytes / _BF16_BYTES
    num_recomputed = work.num_recomputed_layers
    kept = _BF16_BYTES * num_recomputed + _LAYER_BYTES * (profile.num_layers - num_recomputed)
    under_way = _LAYER_BYTES * passes.training.rows / passes.training.calls if num_recomputed else 0
    return scale * tokens * (kept * passes.training.rows * passes.num_trained + under_way)


def _generation_activations(work: Workload) -> float:
    tokens = work.num_tokens + work.profile.text_tokens
    rows = work.algebra.fragment_size * work.passes.sampling.rows / work.passes.sampling.calls
    return rows * tokens * work.profile.width * _INFERENCE_LAYER_BYTES * work.weight_bytes / _BF16_BYTES


def _trajectory_bytes(work: Workload) -> float:
    """Both ends of each stochastic denoising step in fp32, until the fragment is handed on."""
    algebra = work.algebra
    latents = work.num_tokens * work.profile.token_channels * FP32_BYTES
    return algebra.fragment_size * 2 * algebra.num_trained_denoising_steps * latents
