"""The trainer rank as a plain class: accumulate groups as they arrive, commit at the mini-batch's end.

```text
accumulate(groups) ─► units ─► this rank's micro-batches ─► learner ─► loss ─► backward    (any number of times)
commit()           ─► reduce over ranks ─► clip ─► AdamW on what is trained                (one optimizer step)
abort()            ─► open gradients dropped; weights and optimizer as before
switch(to)         ─► a lent rank's `generator` draws on a twin of the model; none of the above notices
```

Every pair's loss is divided by the known number of pairs of the whole mini-batch, so the gradient is the mini-batch's
mean however it was cut and in whatever order it came. All methods are entered by every rank with the same arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import deepspeed
import torch
from deepspeed.runtime.base_optimizer import ZeROOptimizer

from worker.contracts.names import LaneRole, Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.devices.selection import apply_determinism
from worker.engine.errors import NonFiniteError, SyncError
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.sharded_parameters import full_numel
from worker.engine.sync.packing import pack
from worker.engine.sync.shards import LoadedVersion
from worker.engine.trainer import checkpoint
from worker.engine.trainer.export import write_untrained
from worker.engine.trainer.generation_switch import GenerationSwitch
from worker.engine.trainer.learners.learner import PreparedGroup, build_learner
from worker.engine.trainer.learners.open_minibatch import OpenMinibatch
from worker.engine.trainer.learners.replay import Gate
from worker.engine.trainer.learners.update_stats import UpdateStatsSum
from worker.engine.trainer.policy.policies import Policies
from worker.engine.trainer.policy.trained_policy import Copies, TrainedPolicy
from worker.engine.trainer.zero.deepspeed_config import build_optimizer, deepspeed_config
from worker.engine.trainer.zero.gradients import drop_gradients, judge_norm_before_step, step_optimizer
from worker.engine.types import GroupBatch, PublishedVersion, UpdateStats, shard_indices_of_rank
from worker.scheduling.core.batching import MicroBatch, spread


class TrainerRank:
    """LoRA or all weights under DeepSpeed ZeRO 0 to 3. `init_process_group` must have been called."""

    def __init__(
        self,
        spec: RunSpec,
        base_model_path: str,
        rank: int,
        world_size: int,
        device: str | torch.device | None = None,
        embeddings: Mapping[str, PromptEmbeds] | None = None,
    ) -> None:
        """Load the base, make ready what is trained (the same on every rank), wrap it in DeepSpeed.

        Text encoders are loaded only where no `embeddings` of the run's prompts are given.
        """
        self._spec, self._rank, self._world_size = spec, rank, world_size
        apply_determinism(spec)
        self._policy = TrainedPolicy(spec, base_model_path, device, embeddings)
        self._model, self._parameters = self._policy.model, self._policy.parameters
        self.generator = self._policy.generator
        """Generates while this rank is lent, beside whatever gradients are open; `None` where the run never lends."""
        self._behaviour = self._policy.behaviour
        trained = list(self._parameters.values())
        self._engine, *_ = deepspeed.initialize(
            model=self._policy.module,
            model_parameters=trained,
            optimizer=build_optimizer(spec, trained),
            config=deepspeed_config(spec, sum(full_numel(parameter) for parameter in trained)),
            dist_init_required=False,
        )
        judge_norm_before_step(self._engine)
        # Stage 0 is reduced in `commit`, where the norm is checked before the step.
        self._engine.enable_backward_allreduce = bool(spec.deepspeed.zero_stage)
        policies = Policies(
            model=self._model, velocity=self._engine, second=self._behaviour, reference=self._policy.reference
        )
        self._learner = build_learner(spec, policies, lambda: int(self._engine.global_steps))
        self._loan = GenerationSwitch(spec, self._policy, self._engine)
        self._open = OpenMinibatch(spec.algebra)

    @property
    def num_shards(self) -> int:
        """Of a published version, over all ranks."""
        return len(self._policy.shards)

    @property
    def own_shards(self) -> range:
        """The places of those that this rank publishes."""
        return shard_indices_of_rank(self.num_shards, rank=self._rank, world_size=self._world_size)

    def load_version(self, version: PublishedVersion) -> None:
        """Start from published weights instead of fresh ones. Raises `SyncError` as a pull does."""
        self._policy.bind(version)
        if isinstance(self._engine.optimizer, ZeROOptimizer):
            self._engine.optimizer.refresh_fp32_params()

    def switch(self, to: LaneRole) -> None:
        """Turn this rank to generation (`to` is rollout) or back to training. Open gradients stay as they are.

        Raises:
            LendingError: when the run was set up without lending.
        """
        self._loan.switch(to)

    def accumulate(
        self,
        groups: Sequence[GroupBatch],
        *,
        num_pairs_total: int,
        fresh: bool,
        staleness: int = 0,
        behaviour: PublishedVersion | None = None,
    ) -> UpdateStats:
        """Forward and backward over complete groups; gradients stay open until `commit` or `abort`.

        Args:
            groups: of one batch, none of them yet in the open mini-batch; gone through in index order.
            num_pairs_total: pairs of the whole mini-batch over all ranks, the same in each call of it.
            fresh: no optimizer step was taken on this batch yet: the replay gate may be judged on the result.
            staleness: the version being trained − the version that drew the groups.
            behaviour: the version that drew them; needed where they are fresh and stale.

        Returns:
            Sums over this rank's own share of the pairs.

        Raises:
            NonFiniteError: naming group, member and denoising step; the caller then aborts.
            MinibatchError: for a group given twice or of another size than the spec's, or more pairs than the
                mini-batch holds.
            SyncError: when `behaviour` is not what drew the groups.
            LendingError: while this rank serves generation.
        """
        self._loan.require_training("trains")
        held_of: dict[int, PreparedGroup] = {group.group: self._learner.take(group) for group in groups}
        self._open.admit(groups, held_of, num_pairs_total)
        gate = self._gate(groups, behaviour, staleness) if fresh else Gate.OFF
        tally, share = UpdateStatsSum(), self._share(sorted(held_of))
        watched = self._open.watched(len(share), batch=groups[0].batch)
        for place, micro in enumerate(share):
            held = held_of[micro.group]
            conditioning = self._learner.conditioning(held.prompt)
            # Padding is gated too: in ZeRO 3 every rank must go through as many forward passes.
            replayed = self._learner(
                held, micro, conditioning, gate=gate, is_watched=place in watched, is_stale=staleness > 0
            )
            # DeepSpeed averages gradients over ranks, each of which holds a part of the sum.
            scale = micro.weight * self._world_size / num_pairs_total
            self._engine.backward(replayed.losses.sum() * scale, scale_wrt_gas=False)
            if micro.weight:
                tally.add(held, micro, replayed)
        return tally.stats()

    def commit(self) -> dict[str, float]:
        """The optimizer step that closes the mini-batch: `grad_norm` (before clipping) and `learning_rate`.

        Raises:
            MinibatchError: when pairs of the mini-batch are still missing.
            LendingError: while this rank serves generation.
            NonFiniteError: for a gradient that is not finite; nothing was changed and the gradients are dropped.
        """
        self._loan.require_training("takes an optimizer step")
        self._open.require_complete()
        try:
            norm = step_optimizer(self._engine, self._parameters, self._spec.optimizer.max_grad_norm)
        except NonFiniteError:
            self.abort()
            raise
        self._open.close()
        self._policy.stepped(int(self._engine.global_steps))
        return {"grad_norm": norm, "learning_rate": float(self._engine.get_lr()[0])}

    def abort(self) -> None:
        """Drop the open mini-batch: the next step is as if it had never been begun. A lent rank is switched back."""
        self._loan.switch(LaneRole.TRAINER)
        drop_gradients(self._engine, self._parameters)
        self._open.close()

    def snapshot(self) -> Copies:
        """A copy of this rank's share of the current weights, to be published while training goes on."""
        return self._policy.snapshot(self.own_shards)

    def version(self, policy_version: int) -> LoadedVersion:
        """All current weights under a version number, on every rank: for whoever has the time and room for it."""
        copies = self._policy.snapshot(range(self.num_shards))
        return LoadedVersion(held=tuple(pack(copies[place], policy_version) for place in sorted(copies)))

    def save_checkpoint(self, uri: str, client_state: dict[str, Any], behaviour: PublishedVersion | None = None) -> int:
        """Trained weights, optimizer, random states and `client_state` (plain JSON values) under an fsspec URL.

        `behaviour` is kept beside them: the older version that the next batch has begun on.

        Returns:
            Bytes this rank wrote.

        Raises:
            MinibatchError: when gradients are open: they are no part of a checkpoint.
            LendingError: while this rank serves generation.
        """
        self._loan.require_training("is saved")
        self._open.require_empty()
        return checkpoint.save(self._engine, uri, client_state, self._rank, self._world_size, behaviour=behaviour)

    def load_checkpoint(self, uri: str) -> dict[str, Any]:
        """Restore everything `save_checkpoint` wrote; returns its `client_state`. Raises `CheckpointError`."""
        self.abort()
        client_state = checkpoint.load(self._engine, uri, self._rank, self._world_size)
        self._policy.restored()
        return client_state

    def export(self, folder: str) -> None:
        """Rank 0 writes what users download in diffusers format.

        A LoRA: `pytorch_lora_weights.safetensors`, for `load_lora_weights`. All weights: a folder for each transformer
        with what is not in the published shards, see `write_untrained`.
        """
        if self._spec.tuning is Tuning.LORA:
            exported = self._policy.exported()
            if self._rank == 0:
                self._model.save_lora(folder, pack(exported, 0).tensors)
            return
        untrained = self._policy.untrained()
        if self._rank == 0:
            write_untrained(folder, self._model.transformer, untrained)

    def _share(self, groups: Sequence[int]) -> list[MicroBatch]:
        """What this rank goes through for these groups."""
        return spread(
            self._spec.algebra, groups, rank=self._rank, world_size=self._world_size, tsp=self._spec.pipeline.tsp
        )

    def _gate(self, groups: Sequence[GroupBatch], behaviour: PublishedVersion | None, staleness: int) -> Gate:
        if not self._spec.algorithm.needs.log_probs:
            return Gate.OFF
        if not staleness:
            return Gate.LIVE
        if self._behaviour is None or behaviour is None:
            raise SyncError(f"`behaviour` must be given to judge the replay gate on data of staleness {staleness}")
        self._behaviour.hold(behaviour, groups)
        return Gate.BEHAVIOUR
