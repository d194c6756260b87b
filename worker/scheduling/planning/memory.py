"""The bytes that a lane holds on its device, by what it does: a split whose lanes do not fit is not offered.

    rollout   weights, adapter, decoder, one layer's activations of a fragment, embeddings of the prompts used last
    trainer   weights, trained parameters, gradients and optimizer state (sharded by ZeRO), copies of the policy,
              activations kept for the backward pass, embeddings as a rollout lane's
    both      a trainer lane that generates too: the phase that holds more. LoRA generates on the same frozen weights;
              full tuning on a full copy of its own, which exists while it generates

Of a lane of several GPUs it is what the first one holds. Activations are divided over them, sharded state over those of
all trainer lanes; everything else each holds whole.

A lane that generates also holds the networks of a reward lane that shares its card, with that process's own context.
Before it loads any of that, a lane encodes the run's prompts: text encoders, and nothing beside them. Where they do not
fit they encode on the CPU, and do not count. Invariant: for a given number of recomputed layers, more ranks, smaller
fragments or smaller micro-batches never take more.

Where the spec leaves open which layers are recomputed, it is as few as fit the lane. Sources: state by ZeRO stage in
`trainer_state`; the autoencoder in `decoder_memory`; activations of a transformer layer as traced (`model_profile`).
"""

from dataclasses import dataclass, fields, replace
from enum import StrEnum

from worker.scheduling.planning.decoder_memory import decoder_weights, decoding_bytes, kept_bytes
from worker.scheduling.planning.stored_embeddings import device_embedding_bytes
from worker.scheduling.planning.trainer_state import FP32_BYTES, TrainerState, trainer_state
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, GB, Accelerator

_BF16_BYTES = 2
"""Bytes of one bf16 value."""
_INFERENCE_LAYER_BYTES = 26
"""Bytes of one layer's activations in generation, per token and unit of width, in 16-bit values: the training ones
without those kept only for the backward pass, that is residual, queries, keys, values, feed-forward at 4 × width."""
_RESERVE_BYTES = 3.0 * GB
"""An estimate of an accelerator's context, of NCCL's buffers and of cuDNN's workspaces."""
_RESERVE_SHARE = 0.05
"""An estimate of the share of an accelerator's memory that its allocator cannot use, in pieces too small for what is
asked for, with segments that grow (`PYTORCH_ALLOC_CONF`)."""
_RESERVE_BYTES_OF_A_CORE = 0.1 * GB
"""An estimate of what a CPU lane, which has no context, needs beside its tensors."""
MAX_STAGED_BYTES = 8 * 2**30
"""The most bytes of host memory that a rank keeps pinned for publishing; a test equates it with the engine's."""
BROADCAST_SHARD_BYTES = 2**28
"""The bytes of the buffer from which a rank broadcasts its shards; a test equates it with the engine's."""
MAX_BUCKET_NUMEL = 200_000_000
"""The largest number of elements in the bucket in which gradients are reduced; a test equates it with the engine's."""


class MemoryRole(StrEnum):
    """What a lane does in the course of a run, which decides what it holds."""

    ROLLOUT = "rollout"
    """The lane only generates."""
    TRAINER = "trainer"
    """The lane only trains."""
    BOTH = "both"
    """The lane trains and generates in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneMemory:
    """Bytes that one lane holds on its device, by purpose."""

    weights: float
    """The transformer's weights; with full tuning, the trained ones."""
    adapter: float
    """LoRA's parameters, those that generate and those that are trained."""
    copies: float = 0.0
    """Copies of the policy beside the one that is trained, or that generates: reference, older policy, shadow weights,
    a snapshot, a version received by broadcast."""
    gradients: float = 0.0
    optimizer: float = 0.0
    """The optimizer's moments and master weights."""
    activations: float
    decoder: float = 0.0
    """The autoencoder's weights and its feature maps while it decodes."""
    text_encoders: float = 0.0
    """The text encoders, in the phase before the policy is loaded."""
    embeddings: float = 0.0
    """Those of the prompts used last."""
    trajectories: float = 0.0
    """Latents of a fragment's trajectories until the fragment is handed on."""
    scorers: float = 0.0
    """The process of a reward lane that shares the card: its networks, their activations, its context."""
    reserve: float
    """Memory that the device and its libraries keep for themselves."""

    @property
    def parts(self) -> dict[str, float]:
        """The bytes of each field by its name."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}

    @property
    def total(self) -> float:
        return sum(self.parts.values())

    def fits(self, device: Accelerator) -> bool:
        return self.total <= device.memory_bytes


def lane_memory(work: Workload, device: Accelerator, role: MemoryRole, *, num_ranks: int = 1) -> LaneMemory:
    """What one lane of that role, in a gang of `num_ranks` lanes, holds when it holds most: while encoding prompts,
    training, publishing, generating, or switching between them."""
    return _most_held(recomputing_on(work, device, role, num_ranks=num_ranks), device, role, num_ranks)


def recomputing_on(work: Workload, device: Accelerator, role: MemoryRole, *, num_ranks: int) -> Workload:
    """`work` with the fewest recomputed layers with which such a lane fits, or with all if none fits; unchanged where
    their number is given, or the lane does not train."""
    if work.memory_savings.num_recomputed_layers is not None or role is MemoryRole.ROLLOUT:
        return work

    def fits(num_layers: int) -> bool:
        return _most_held(work.recomputing(num_layers), device, role, num_ranks).fits(device)

    too_few, enough = -1, work.profile.num_layers
    if fits(0):
        return work.recomputing(0)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if fits(middle) else (middle, enough)
    return work.recomputing(enough)


def _most_held(work: Workload, device: Accelerator, role: MemoryRole, num_ranks: int) -> LaneMemory:
    trains, generates = role is not MemoryRole.ROLLOUT, role is not MemoryRole.TRAINER
    num_ranks *= work.num_computing_gpus(device)
    scorers = scorers_bytes(work, device) if generates else 0.0
    moments = [_while_encoding(work, device)] if encodes_on(work, device, generates=generates) else []
    if trains:
        moments += [
            _while_training(work, device, num_ranks, generates=generates),
            _while_publishing(work, device, num_ranks, generates=generates),
        ]
    if generates:
        generating = _while_generating(work, device, num_ranks, trains=trains)
        decoder = decoder_weights(work) + decoding_bytes(work)
        moments += [generating, replace(generating, activations=0.0, decoder=decoder)]
    if trains and generates:
        moments.append(_while_switching(work, device, num_ranks))
    return replace(max(moments, key=lambda memory: memory.total), scorers=scorers)


def encodes_on(work: Workload, device: Accelerator, *, generates: bool) -> bool:
    """Whether the text encoders fit the device of a lane, which a reward lane may share where the lane generates."""
    scorers = scorers_bytes(work, device) if generates else 0.0
    return replace(_while_encoding(work, device), scorers=scorers).fits(device)


def scorers_bytes(work: Workload, device: Accelerator) -> float:
    """The bytes that a reward lane takes of the card that it shares. Of what a card's allocators cannot use,
    `_RESERVE_SHARE` is counted once, since both processes together cannot hold more than the card."""
    if not work.shares_cards:
        return 0.0
    context = _RESERVE_BYTES_OF_A_CORE if device.name == CPU_CORE.name else _RESERVE_BYTES
    return work.scoring.weight_bytes + work.scoring.activation_bytes + context


def scoring_memory(work: Workload, device: Accelerator) -> LaneMemory:
    """What a reward lane holds on a card of its own."""
    scorers = work.scoring.weight_bytes + work.scoring.activation_bytes
    return LaneMemory(weights=0.0, adapter=0.0, activations=0.0, scorers=scorers, reserve=_reserve(device))


def host_bytes(work: Workload, device: Accelerator, *, num_ranks: int) -> float:
    """The bytes that one trainer lane, in a gang of `num_ranks` lanes, keeps in its host's memory at most: each of its
    computing GPUs its own state. `staged_bytes` and pulled weights come on top."""
    num_gpus = work.num_computing_gpus(device)
    state, memory_savings = _state(work, num_ranks * num_gpus), work.memory_savings
    held = state.optimizer if memory_savings.optimizer_on_host or memory_savings.idle_on_host else 0.0
    if memory_savings.idle_on_host or (memory_savings.optimizer_on_host and work.zero_stage > 1):
        held += state.gradients - state.bucket
    if memory_savings.idle_on_host and work.zero_stage == 3:
        # Only there the bucket outlives the backward pass, so that it is offloaded too.
        held += state.bucket
    return num_gpus * (held + _weights_on_host(work, state, num_ranks * num_gpus))


def _weights_on_host(work: Workload, state: TrainerState, num_ranks: int) -> float:
    """Weights that a rank keeps in host memory at most: in ZeRO 3 its shards of the base and of the policy's copies,
    before it those that full tuning trains."""
    memory_savings, copies = work.memory_savings, work.copies
    if work.zero_stage < 3:
        return state.weights if memory_savings.idle_on_host and work.is_full else 0.0
    shards = work.trained_bytes * (copies.reference + copies.older) / num_ranks
    if memory_savings.weights_on_host:
        return state.weights + shards
    # A LoRA's own shards stay on the device.
    return work.weights_bytes / num_ranks + shards if memory_savings.idle_on_host else 0.0


def staged_bytes(work: Workload, *, num_ranks: int) -> float:
    """The bytes of pinned host memory through which one trainer lane with an accelerator publishes."""
    return min(_snapshot(work, num_ranks), MAX_STAGED_BYTES)


def _while_encoding(work: Workload, device: Accelerator) -> LaneMemory:
    """Before the policy is loaded. A prompt passes by itself, so that its activations are a thousandth of the
    weights."""
    return LaneMemory(
        weights=0.0, adapter=0.0, activations=0.0, text_encoders=work.text_encoder_bytes, reserve=_reserve(device)
    )


def _while_training(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    decodes_too = work.passes.goes_through_decoder
    between = _between_steps(work, device, num_ranks, generates=generates)
    return replace(
        between,
        weights=between.weights + _gathered(work),
        # ZeRO 3 gathers the live adapter too.
        adapter=between.adapter + (work.trained_bytes if work.zero_stage == 3 and not work.is_full else 0.0),
        copies=between.copies + _snapshot_beside(work, device, num_ranks),
        activations=_training_activations(work) / work.num_computing_gpus(device),
        decoder=(decoder_weights(work) if generates or decodes_too else 0.0)
        + (decoding_bytes(work) + kept_bytes(work) if decodes_too else 0.0),
        trajectories=_trajectory_bytes(work) if generates else 0.0,
    )


def _while_publishing(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    between = _between_steps(work, device, num_ranks, generates=generates)
    snapshot = _snapshot(work, _num_lanes(work, device, num_ranks))
    sent = min(snapshot, BROADCAST_SHARD_BYTES) if work.broadcasts else 0.0
    return replace(between, copies=between.copies + snapshot + sent)


def _while_switching(work: Workload, device: Accelerator, num_ranks: int) -> LaneMemory:
    """While the weights to generate with are built: from a sharded base before the lane's own shard may be offloaded,
    from trained weights after."""
    between = _between_steps(work, device, num_ranks, generates=True)
    is_built = work.is_full or work.zero_stage == 3
    stays = 0.0 if work.memory_savings.idle_on_host else 1.0
    return replace(
        between,
        weights=between.weights * (stays if work.is_full else 1.0) + (work.weights_bytes if is_built else 0.0),
        copies=between.copies + _snapshot_beside(work, device, num_ranks),
        gradients=between.gradients * stays,
        optimizer=between.optimizer * stays,
    )


def _between_steps(work: Workload, device: Accelerator, num_ranks: int, *, generates: bool) -> LaneMemory:
    """With open gradients. A lane that trains and generates has a separate adapter to generate with."""
    state = _state(work, num_ranks)
    generating = work.trained_bytes if generates else 0.0
    return LaneMemory(
        weights=_live_weights(work, num_ranks),
        adapter=0.0 if work.is_full else generating + _live_adapter(work, num_ranks),
        copies=_copies(work, num_ranks),
        gradients=_gradients(work, state),
        optimizer=0.0 if work.memory_savings.optimizer_on_host else state.optimizer,
        activations=0.0,
        embeddings=device_embedding_bytes(work),
        reserve=_reserve(device),
    )


def _while_generating(work: Workload, device: Accelerator, num_ranks: int, *, trains: bool) -> LaneMemory:
    generating = LaneMemory(
        weights=work.weights_bytes,
        adapter=0.0 if work.is_full else work.trained_bytes,
        copies=work.trained_bytes if work.broadcasts and not trains else 0.0,
        activations=generation_activations(work) / work.num_computing_gpus(device),
        decoder=decoder_weights(work),
        embeddings=device_embedding_bytes(work),
        trajectories=_trajectory_bytes(work),
        reserve=_reserve(device),
    )
    if not trains:
        return generating
    # LoRA generates on the frozen weights that it trains on. Sharded weights must be gathered first, and trained ones
    # copied, so there the lane holds two.
    has_two = (work.is_full or work.zero_stage == 3) and not work.memory_savings.idle_on_host
    state = _between_steps(work, device, num_ranks, generates=True)
    stays = 0.0 if work.memory_savings.idle_on_host else 1.0
    return replace(
        generating,
        weights=generating.weights + (state.weights if has_two else 0.0),
        adapter=state.adapter,
        copies=state.copies + _snapshot_beside(work, device, num_ranks),
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
    """Gradients on the device. From stage 2 on, those of an optimizer in host memory are in host memory too."""
    if work.is_full and work.memory_savings.optimizer_on_host and work.zero_stage > 1:
        return state.bucket
    return state.gradients


def _live_weights(work: Workload, num_ranks: int) -> float:
    """The transformer's weights that a trainer rank keeps on its device."""
    if work.zero_stage < 3:
        return work.weights_bytes
    return 0.0 if work.memory_savings.weights_on_host else work.weights_bytes / num_ranks


def _gathered(work: Workload) -> float:
    """Weights that ZeRO 3 has gathered: those of the current layer and of the one prefetched. Layers that are not
    recomputed stay gathered until their backward pass, since autograd holds the weights that they multiplied with."""
    if work.zero_stage < 3:
        return 0.0
    num_layers = work.profile.num_layers
    num_kept = num_layers - work.num_recomputed_layers
    of_expert = work.weights_bytes / work.profile.num_experts / num_layers
    return of_expert * min(num_kept * work.num_experts_of_pass + 2, num_layers * work.num_experts_of_pass)


def _live_adapter(work: Workload, num_ranks: int) -> float:
    return work.trained_bytes / (num_ranks if work.zero_stage == 3 else 1)


def _copies(work: Workload, num_ranks: int) -> float:
    """Copies of the policy. ZeRO 3 shards them like the trained weights, except for LoRA's shadow weights, which every
    rank keeps in full."""
    is_sharded, copies = work.zero_stage == 3, work.copies
    like_trained = work.trained_bytes * (copies.reference + copies.older)
    shadow_weights = FP32_BYTES * work.trained_parameters * copies.num_shadow_copies
    if is_sharded:
        like_trained = 0.0 if work.is_full and work.memory_savings.weights_on_host else like_trained / num_ranks
        shadow_weights = shadow_weights / num_ranks if work.is_full else shadow_weights
    return like_trained + shadow_weights


def _num_lanes(work: Workload, device: Accelerator, num_ranks: int) -> int:
    """The trainer lanes that so many ranks belong to."""
    return num_ranks // work.num_computing_gpus(device)


def _snapshot(work: Workload, num_lanes: int) -> float:
    """The version being published: a full adapter, or the part of all weights that the first GPU of a lane copies."""
    return work.published_bytes / (num_lanes if work.is_full else 1)


def _snapshot_beside(work: Workload, device: Accelerator, num_ranks: int) -> float:
    """The version being published while the lane trains or generates: at staleness 1, and where lanes have received it
    and its copy is still on the way to the object store."""
    return _snapshot(work, _num_lanes(work, device, num_ranks)) if work.copies.stale or work.broadcasts else 0.0


def _reserve(device: Accelerator) -> float:
    if device.name == CPU_CORE.name:
        return _RESERVE_BYTES_OF_A_CORE
    return _RESERVE_BYTES + _RESERVE_SHARE * device.memory_bytes


def _training_activations(work: Workload) -> float:
    """A recomputed layer keeps its input, any other layer all activations; while one layer is recomputed, its
    activations exist too. Several predictions of one unit keep theirs until the common backward pass."""
    passes, profile = work.passes, work.profile
    tokens = (work.num_tokens + profile.text_tokens) * profile.width * work.num_units_per_micro_batch
    scale = work.weight_bytes / _BF16_BYTES
    num_recomputed = work.num_recomputed_layers
    layer_bytes = profile.full_activation_bytes if work.is_full else profile.lora_activation_bytes
    kept = _BF16_BYTES * num_recomputed + layer_bytes * (profile.num_layers - num_recomputed)
    recomputing = layer_bytes * passes.training.rows / passes.training.calls if num_recomputed else 0
    rows = passes.training.rows * (1 + work.idle_share)
    return scale * tokens * (kept * rows * passes.num_trained + recomputing)


def generation_activations(work: Workload) -> float:
    """The bytes of one layer's activations while a fragment is generated."""
    tokens = work.num_tokens + work.profile.text_tokens
    rows = work.algebra.fragment_size * work.passes.sampling.rows / work.passes.sampling.calls
    return rows * tokens * work.profile.width * _INFERENCE_LAYER_BYTES * work.weight_bytes / _BF16_BYTES


def _trajectory_bytes(work: Workload) -> float:
    """The latents before and after each stochastic denoising step, in fp32."""
    algebra = work.algebra
    latents = work.num_tokens * work.profile.token_channels * FP32_BYTES
    return algebra.fragment_size * 2 * algebra.num_trained_denoising_steps * latents
