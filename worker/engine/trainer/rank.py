"""The trainer rank as a plain class: accumulate groups as they arrive, commit at the mini-batch's end.

```text
accumulate(micro-batches) ─► learner ─► loss ─► backward                                (any number of times)
commit()                  ─► reduce over ranks ─► clip ─► AdamW on trainable parameters  (one optimizer step)
abort()                   ─► open gradients dropped; weights and optimizer as before
switch(to)                ─► a lent rank's `sampler` draws with the generation replica; training state is untouched
```

Every pair's loss is divided by the known number of pairs of the whole mini-batch. So the gradient is the mini-batch's
mean, whichever rank takes a micro-batch and in whatever order. In ZeRO 0 and 1 ranks accumulate by themselves, as many
micro-batches as they are given, and wait for each other in `commit` alone; ZeRO 2 and 3 reduce in every pass, so all
ranks are given equally many at once. Unless it says otherwise, any other method is called on every rank with the same
arguments.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from deepspeed.runtime.base_optimizer import ZeROOptimizer

from worker.contracts.names import LaneRole, Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.devices.selection import apply_determinism
from worker.engine.devices.smaller_calls import MemoryPlan
from worker.engine.errors import NonFiniteError
from worker.engine.models.embeddings import Embeddings
from worker.engine.sync.broadcast_plan import ShardLayout
from worker.engine.sync.flat_shards import layout_of
from worker.engine.sync.host_staging import HostStaging
from worker.engine.sync.packing import pack
from worker.engine.sync.shards import LoadedVersion
from worker.engine.trainer.checkpoints.loading import RestoredState, load
from worker.engine.trainer.checkpoints.saving import save
from worker.engine.trainer.checkpoints.training_state import TrainingState
from worker.engine.trainer.export import write_untrained
from worker.engine.trainer.generation_switch import GenerationSwitch
from worker.engine.trainer.learners.base import GateMode, MicroBatchLoss, PreparedGroup
from worker.engine.trainer.learners.gate import gate_mode
from worker.engine.trainer.learners.open_minibatch import OpenMinibatch, require_complete
from worker.engine.trainer.learners.passes import is_monitored_pass, passes_of
from worker.engine.trainer.learners.proximal_record import ProximalRecord
from worker.engine.trainer.learners.registry import build_learner
from worker.engine.trainer.learners.update_stats import UpdateStatsAccumulator
from worker.engine.trainer.policy.policies import Policies
from worker.engine.trainer.policy.trained_policy import ShardSnapshots, TrainedPolicy
from worker.engine.trainer.training_passes import HOLD_LESS, TrainingPasses
from worker.engine.trainer.zero.engine_start import start_engine
from worker.engine.trainer.zero.gradients import drop_gradients, fill_missing_gradients, step_optimizer
from worker.engine.trainer.zero.process_group import end_loading, max_over_ranks, sum_over_ranks
from worker.engine.types import GroupBatch, PublishedShard, PublishedVersion, UpdateStats, shard_indices_of_rank
from worker.scheduling.core.batching import MicroBatch
from worker.scheduling.core.messages import MicroBatchKey
from worker.scheduling.planning.memory import MemoryRole


class TrainerRank:
    """One rank that trains LoRA layers or all weights, in ZeRO 0 to 3, once `init_process_group` was called."""

    def __init__(
        self,
        spec: RunSpec,
        base_model_path: str,
        rank: int,
        world_size: int,
        device: str | torch.device | None = None,
        embeddings: Embeddings | None = None,
        *,
        gpus_per_lane: int = 1,
    ) -> None:
        """Load the base, prepare the trainable parameters (the same on every rank), wait for the other ranks and
        initialise DeepSpeed.

        Args:
            spec: the run's.
            base_model_path: an existing folder in diffusers layout, or a hub id.
            rank: this process's index among the trainer ranks.
            world_size: the number of trainer ranks, those of one lane one after the other.
            device: where to train; by default the accelerator's current device.
            embeddings: of the run's prompts; any other prompt is encoded on the CPU when it comes.
            gpus_per_lane: how many ranks make each pass together, each with a part of its tokens, and are called alike.

        Raises:
            ModelLoadError: for weights or LoRA targets that cannot be used, or a model that cannot be trained on lanes
                of so many GPUs.
            DeviceMemoryError: for too little memory, as do saving, restoring and exporting.
        """
        self._spec, self._rank, self._world_size, self._gpus_per_lane = spec, rank, world_size, gpus_per_lane
        apply_determinism(spec)
        role = MemoryRole.BOTH if spec.pipeline.trainers_generate else MemoryRole.TRAINER
        self._memory = MemoryPlan(spec, role, num_gpus=gpus_per_lane)
        with self._memory.explaining("load the model", HOLD_LESS):
            self._policy = TrainedPolicy(
                spec, base_model_path, device, embeddings, num_ranks=world_size, gpus_per_lane=gpus_per_lane
            )
        end_loading()
        self._model, self._trainable = self._policy.model, self._policy.trainable
        self.sampler = self._policy.sampler
        """Generates while this rank is lent, whatever gradients are open; `None` in a run whose trainer lanes never
        generate. It concerns this rank alone."""
        self._behaviour = self._policy.behaviour
        with self._memory.explaining("make the optimizer", HOLD_LESS):
            self._deepspeed_engine = start_engine(spec, self._policy.module, list(self._trainable.values()))
        policies = Policies(
            model=self._model,
            velocity=self._deepspeed_engine,
            behaviour=self._behaviour,
            reference=self._policy.reference,
        )
        self._learner = build_learner(spec, policies, lambda: int(self._deepspeed_engine.global_steps))
        self._generation_switch = GenerationSwitch(spec, self._policy, self._deepspeed_engine)
        self._minibatch = OpenMinibatch(spec.algebra)
        self._passes = TrainingPasses(
            self._memory,
            backward=partial(self._deepspeed_engine.backward, scale_wrt_gas=False),
            drop_gradients=partial(drop_gradients, self._deepspeed_engine, self._trainable),
            note_gradients=self._policy.note_gradients,
            runs_in_lockstep=self._runs_in_lockstep or gpus_per_lane > 1,
        )
        self._proximal = ProximalRecord(
            spec, device=self._model.device, hold_proximal=self._policy.hold_proximal, world_size=world_size
        )

    @property
    def num_shards(self) -> int:
        """The number of shards of a published version, over all ranks."""
        return len(self._policy.shards)

    @property
    def shard_layouts(self) -> tuple[ShardLayout, ...]:
        """How the weights of each shard that draw training data lie in one buffer, over all ranks."""
        trainable = self._policy.trainable
        return tuple(layout_of({name: trainable[name] for name in names}) for names in self._policy.shards)

    @property
    def own_shard_indices(self) -> range:
        """The indices of the shards that this rank publishes: those of its lane, if it is the first of it."""
        lane, gpu = divmod(self._rank, self._gpus_per_lane)
        return range(0) if gpu else shard_indices_of_rank(self.num_shards, rank=lane, world_size=self._num_lanes)

    def load_version(self, version: PublishedVersion) -> None:
        """Start a batch from published weights. Raises `SyncError` as `worker.engine.sync.binding.bind`."""
        self._policy.bind(version)
        self._proximal.reset()
        if isinstance(self._deepspeed_engine.optimizer, ZeROOptimizer):
            self._deepspeed_engine.optimizer.refresh_fp32_params()

    def switch(self, to: LaneRole) -> None:
        """Turn this rank to generation (`to` is rollout) or back to training; open gradients are kept.

        Outside ZeRO 3 it concerns this rank alone.

        Raises:
            LendingError: when trainer lanes of this run never generate.
            DeviceMemoryError: for too little memory.
        """
        with self._memory.explaining(f"change to the role of a {to} lane", HOLD_LESS):
            self._generation_switch.switch(to)

    def accumulate(
        self,
        groups: Sequence[GroupBatch],
        micro_batches: Sequence[MicroBatchKey] | None = None,
        *,
        num_pairs_total: int,
        fresh: bool,
        staleness: int = 0,
        behaviour: PublishedVersion | None = None,
        num_padding: int = 0,
    ) -> UpdateStats:
        """Forward and backward over micro-batches; gradients stay open until `commit` or `abort`.

        In ZeRO 0 and 1 it concerns this rank alone; in ZeRO 2 and 3 all ranks make equally many passes at once.

        Args:
            groups: the groups of one batch that the micro-batches belong to, with what these need.
            micro_batches: this rank's, none of them yet in the open mini-batch, trained in the order given; by default
                all of `groups` by index, as a single rank trains them.
            num_pairs_total: pairs of the whole mini-batch over all ranks, the same in each call of it.
            fresh: no optimizer step was taken on this batch yet, so that the replay gate can be checked.
            staleness: the version being trained − the version that drew the groups.
            behaviour: the version that drew the groups; needed where `fresh` and `staleness` > 0.
            num_padding: passes of weight 0 after the micro-batches, over the first pair of the first of them; a rank
                without micro-batches needs a group with its first one.

        Returns:
            Sums over this rank's own pairs.

        Raises:
            NonFiniteError: for a loss, naming group, member and denoising step; the caller then aborts.
            MinibatchError: for a micro-batch given twice, a group of another size than the spec's, or more pairs than
                the mini-batch holds.
            ValueError: when `groups` lacks what a micro-batch needs.
            SyncError: when `behaviour` is missing or did not draw the groups.
            LendingError: while this rank generates.
            DeviceMemoryError, OpenGradientsLostError: as `TrainingPasses.run`.
        """
        self._generation_switch.require_training("trains")
        passes = passes_of(self._spec.algebra, groups, micro_batches, num_padding)
        prepared_of: dict[int, PreparedGroup] = {group.group: self._learner.prepare(group) for group in groups}
        num_before = self._minibatch.num_passes
        self._minibatch.admit(groups, passes, num_pairs_total)
        self._proximal.open(groups, is_fresh=fresh, staleness=staleness)
        is_gated = fresh and self._spec.algorithm.needs.log_probs
        gate = gate_mode(self._behaviour, groups, behaviour, staleness) if is_gated else GateMode.OFF
        stats = UpdateStatsAccumulator()
        for number, (key, micro) in enumerate(passes, num_before):
            prepared = prepared_of[micro.group]
            forward = partial(
                self._forward,
                prepared,
                gate=gate,
                is_monitored=self._is_monitored(key, number, batch=groups[0].batch),
            )
            # DeepSpeed averages gradients over ranks, but each holds a part of the sum: of its lane's pairs, and where
            # a lane has several, of their tokens.
            scale = micro.weight * self._world_size / num_pairs_total
            for part, result in self._passes.run(micro, forward, scale=scale):
                if part.weight:
                    stats.add(prepared, part, result)
                    self._proximal.record(part, result)
        return stats.result()

    def _forward(
        self, prepared: PreparedGroup, micro: MicroBatch, *, gate: GateMode, is_monitored: bool
    ) -> MicroBatchLoss:
        return self._learner(
            prepared,
            micro,
            self._learner.conditioning(prepared.prompt),
            gate=gate,
            is_monitored=is_monitored,
            proximal=self._proximal.input_of(micro),
        )

    def commit(self, num_skipped_groups: int = 0) -> dict[str, float]:
        """Take the optimizer step that closes the mini-batch; called on all ranks, also on those without a micro-batch
        in it.

        Args:
            num_skipped_groups: groups of the mini-batch that are left out on purpose, since their advantages are all 0.
                The loss has counted their pairs: `num_pairs_total` includes them.

        Returns:
            `grad_norm` (before clipping) and `learning_rate`.

        Raises:
            MinibatchError: on every rank, when pairs of the mini-batch are still missing, or ranks disagree on the
                stale batch that is trained on.
            LendingError: while this rank generates.
            NonFiniteError: on every rank, for a gradient that is not finite; weights and optimizer are unchanged, the
                gradients are dropped.
            DeviceMemoryError: for too little memory.
        """
        self._generation_switch.require_training("takes an optimizer step")
        device = self._model.device
        num_pairs = sum_over_ranks(self._minibatch.num_pairs, device) // self._gpus_per_lane
        # A rank that has taken no micro-batch was not told the total.
        num_pairs_total = max_over_ranks(self._minibatch.num_pairs_total, device)
        require_complete(self._spec.algebra, num_pairs, num_pairs_total, num_skipped_groups)
        self._proximal.before_step()
        with self._memory.explaining("take an optimizer step", HOLD_LESS):
            norm = self._step()
        return {"grad_norm": norm, "learning_rate": float(self._deepspeed_engine.get_lr()[0])}

    def _step(self) -> float:
        """Take the optimizer step and close the mini-batch; returns the gradients' norm. Raises as `commit`."""
        if not self._runs_in_lockstep:
            fill_missing_gradients(self._deepspeed_engine, self._trainable)
        try:
            norm = step_optimizer(self._deepspeed_engine, self._trainable, self._spec.optimizer.max_grad_norm)
        except NonFiniteError:
            self.abort()
            raise
        self._minibatch.close()
        self._passes.close()
        self._policy.stepped(int(self._deepspeed_engine.global_steps))
        return norm

    def abort(self) -> None:
        """Drop the open mini-batch without a trace: the next step is as if it had never been opened. A lent rank is
        switched back."""
        self._generation_switch.switch(LaneRole.TRAINER)
        drop_gradients(self._deepspeed_engine, self._trainable)
        self._minibatch.close()
        self._passes.close()
        self._proximal.close()

    def snapshot(self) -> ShardSnapshots:
        """Copies of the shards that this rank publishes, which training does not change.

        Raises:
            NonFiniteError: for weights that are NaN or infinite.
            DeviceMemoryError: for too little memory.
        """
        with self._memory.explaining("copy the weights that it publishes", HOLD_LESS):
            return self._policy.snapshot(self.own_shard_indices)

    @property
    def memory(self) -> MemoryPlan:
        """What the plan says of this rank's memory, for what is done with its device beside training."""
        return self._memory

    def packed(
        self, copies: ShardSnapshots, policy_version: int, staging: HostStaging | None = None
    ) -> list[PublishedShard]:
        """The shards of a snapshot on the CPU, in order, by way of `staging`; may run beside training.

        Raises:
            DeviceMemoryError: for too little memory.
        """
        with self._memory.explaining(f"pack policy version {policy_version} to be published", HOLD_LESS):
            return [pack(copies[index], policy_version, staging) for index in sorted(copies)]

    def version(self, policy_version: int) -> LoadedVersion:
        """All current weights as a version, on every rank: for runs in one process and for tests, since it copies all
        shards to the CPU of each rank. Raises `NonFiniteError` as `snapshot`."""
        snapshots = self._policy.snapshot(range(self.num_shards))
        return LoadedVersion(loaded=tuple(self.packed(snapshots, policy_version)))

    def save_checkpoint(self, uri: str, client_state: dict[str, Any], behaviour: PublishedVersion | None = None) -> int:
        """Write trainable weights, optimizer and random states under an fsspec URL.

        Args:
            uri: where the checkpoint is to lie; it appears there when complete.
            client_state: plain JSON values that are kept with it.
            behaviour: the older version that the next batch has begun on, to be kept with it.

        Returns:
            The bytes that this rank wrote.

        Raises:
            MinibatchError: when gradients are open, since a checkpoint does not hold them.
            LendingError: while this rank generates.
            NonFiniteError: on every rank, for weights or optimizer state that are NaN or infinite.
            CheckpointError: when another rank could not write.
        """
        self._generation_switch.require_training("is saved")
        self._minibatch.require_empty()
        with self._memory.explaining("write a checkpoint", HOLD_LESS):
            return save(self._training_state(), uri, client_state, self._rank, self._world_size, behaviour=behaviour)

    def load_checkpoint(self, *uris: str) -> RestoredState:
        """Restore the first of `uris` that is not damaged, whatever number of ranks and ZeRO stage wrote it. An open
        mini-batch is aborted. Raises `CheckpointError` as `worker.engine.trainer.checkpoints.loading.load`."""
        self.abort()
        self._proximal.reset()
        with self._memory.explaining("restore a checkpoint", HOLD_LESS):
            restored = load(self._training_state(), uris, self._rank)
            self._policy.restored()
        return restored

    def export(self, folder: str) -> None:
        """Write, on rank 0, what users download in diffusers format.

        Of a LoRA, `pytorch_lora_weights.safetensors` for `load_lora_weights`. Under full fine-tuning a folder for each
        transformer with what the published shards lack, see `write_untrained`.
        """
        is_lora = self._spec.tuning is Tuning.LORA
        with self._memory.explaining("export the weights", HOLD_LESS):
            exported, untrained = (self._policy.exported(), {}) if is_lora else ({}, self._policy.untrained())
        if self._rank == 0 and is_lora:
            self._model.save_lora(folder, pack(exported, 0).tensors)
        elif self._rank == 0:
            write_untrained(folder, self._model.transformer, untrained)

    def _training_state(self) -> TrainingState:
        """What a checkpoint keeps of this rank."""
        return TrainingState(self._deepspeed_engine, self._trainable, self._policy.shadow_fragments())

    def _is_monitored(self, key: MicroBatchKey, num_before: int, *, batch: int) -> bool:
        num_lanes = self._num_lanes if self._runs_in_lockstep else None
        return is_monitored_pass(
            self._spec.algebra, key, num_before=num_before, num_lockstep_ranks=num_lanes, batch=batch
        )

    @property
    def _num_lanes(self) -> int:
        return self._world_size // self._gpus_per_lane

    @property
    def _runs_in_lockstep(self) -> bool:
        """Whether the ranks reduce in every pass, and therefore make equally many, with the same forward passes."""
        return self._spec.deepspeed.zero_stage >= 2
