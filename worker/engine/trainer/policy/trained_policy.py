"""The models of one trainer rank: the policy that is trained, and beside it those that generate, replay or average.

All of them share one base. In ZeRO 0, 1 and 2 it is the same storage; in ZeRO 3 the base is sharded over the ranks, and
gathered layer by layer. Full fine-tuning leaves nothing to share, so each policy is a copy of all weights.
"""

from collections.abc import Collection
from functools import partial

import torch

from worker.contracts.context_parallel import training_kernels
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.context_parallel.spreading import check_trainable, lane_mesh, spread
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import Embeddings
from worker.engine.models.experts import Experts, experts_of
from worker.engine.models.pipeline_loading import Part
from worker.engine.models.precision import DTYPES
from worker.engine.models.registry import load_model
from worker.engine.models.sharded_parameters import full_numel, gathered
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.binding import bind
from worker.engine.sync.packing import snapshot
from worker.engine.sync.shards import split_into_shards
from worker.engine.trainer.policy.generation_replica import GenerationReplica
from worker.engine.trainer.policy.policies import BehaviourPolicy, ReferencePolicy
from worker.engine.trainer.policy.policy_module import PolicyModule, ShardedPolicyModule
from worker.engine.trainer.policy.shadow_weights import ShadowPolicies
from worker.engine.trainer.zero.activation_checkpointing import recompute_blocks
from worker.engine.trainer.zero.deepspeed_config import deepspeed_config
from worker.engine.trainer.zero.fragments import Fragments
from worker.engine.trainer.zero.recomputed_share import recomputed_share
from worker.engine.trainer.zero.sharded_loading import load_sharded
from worker.engine.types import PublishedVersion
from worker.scheduling.planning.memory import MemoryRole

ShardSnapshots = dict[int, dict[str, torch.Tensor]]
"""Copies of weights to be published: shard index → tensors by name."""


class TrainedPolicy:
    """The models of one rank. In ZeRO 3 `bind`, `hold_proximal`, `stepped`, `snapshot`, `exported`, `untrained` and
    `enter_generation` are collectives: every rank must call them."""

    def __init__(
        self,
        spec: RunSpec,
        base_model_path: str,
        device: str | torch.device | None,
        embeddings: Embeddings | None = None,
        *,
        num_ranks: int,
        gpus_per_lane: int,
    ) -> None:
        """Load the base and prepare the trainable parameters, the same on every rank.

        Args:
            spec: the run's.
            base_model_path: an existing folder in diffusers layout, or a hub id.
            device: where to load; by default the accelerator's current device.
            embeddings: of the run's prompts; any other prompt is encoded on the CPU when it comes.
            num_ranks: the number of trainer ranks.
            gpus_per_lane: how many of them make each pass together.

        Raises:
            ModelLoadError: for weights or LoRA targets that cannot be used, or a model that cannot be trained on lanes
                of so many GPUs.
        """
        self._spec = spec
        self._load = partial(_load, spec, base_model_path, device, embeddings, gpus_per_lane)
        is_sharded = spec.deepspeed.zero_stage == 3
        self.model = self._load()
        """The model that is trained."""
        if isinstance(self.model.transformer, Experts):
            self.model.transformer.in_lockstep = spec.deepspeed.zero_stage == 2 and num_ranks > 1
        self.model.prepare_training(spec)
        self.trainable = self.model.trainable
        """The trainable parameters by name."""
        self.shards = split_into_shards(self.trainable, list(experts_of(self.model.transformer)))
        """The names of the tensors in each shard of a published version."""
        # All copies are made before DeepSpeed attaches hooks to the parameters.
        self._replica = GenerationReplica(self.model, spec.tuning) if spec.pipeline.trainers_generate else None
        self.sampler: Sampler | None = None
        """The sampler of the generation replica; `None` in a run whose trainer lanes never generate."""
        if self._replica is not None:
            self.sampler = Sampler(
                spec,
                self._replica.model,
                releases_weights=self._replica.releases_weights,
                memory_role=MemoryRole.BOTH,
                gpus_in_step=gpus_per_lane,
            )
        self._frozen_copies: list[ModelAdapter] = []
        self.behaviour = self._behaviour_policy()
        """The older policy, where `max_staleness`, the algorithm or recomputed log-probs need one."""
        self.reference = self._reference_policy()
        """The policy that training started from, where the algorithm needs it or it costs no memory."""
        num_parameters = sum(full_numel(parameter) for parameter in self.model.transformer.parameters())
        share = recomputed_share(
            spec,
            self.model.device,
            num_parameters=num_parameters,
            num_lanes=num_ranks // gpus_per_lane,
            gpus_per_lane=gpus_per_lane,
        )
        if gpus_per_lane > 1:
            self._spread(gpus_per_lane)
        recompute_blocks(self.model.transformer, share, is_sharded=is_sharded)
        self.module = ShardedPolicyModule(self.model, self._frozen_copies) if is_sharded else PolicyModule(self.model)
        """The module for DeepSpeed to wrap."""
        self._shadow_policies = ShadowPolicies(spec, self.trainable, self.behaviour)
        self.module.add_module("shadow_policies", self._shadow_policies)

    def _spread(self, num_gpus: int) -> None:
        """Let every model predict on all GPUs of the lane. Raises `ModelLoadError` as `check_trainable`."""
        check_trainable(self.model, self._spec, num_gpus)
        mesh = lane_mesh(self.model.device, num_gpus)
        generating = [] if self._replica is None else [self._replica.model]
        for model in (self.model, *generating, *self._frozen_copies):
            spread(model.transformer, mesh)

    def bind(self, version: PublishedVersion) -> None:
        """Start from these weights, and so do the shadow weights. Raises `SyncError` as a pull does."""
        bind(self.trainable, version)
        self._shadow_policies.reset(self.trainable)

    def hold_proximal(self) -> None:
        """Let the older policy predict with the current weights, until another version is bound."""
        assert self.behaviour is not None, "made wherever a batch is replayed after its first update"
        self.behaviour.copy_from(self.trainable, self.shards)

    def note_gradients(self, are_there: bool) -> None:
        """Tell a model of two experts whether a backward pass has been made since the last optimizer step."""
        if isinstance(self.model.transformer, Experts):
            self.model.transformer.has_gradients = are_there

    def stepped(self, num_optimizer_steps: int) -> None:
        """Update the shadow weights; called after each optimizer step with the number of steps since the run began."""
        if self._shadow_policies.are_due(num_optimizer_steps):
            self._shadow_policies.update(self.trainable, num_optimizer_steps)

    def shadow_fragments(self) -> dict[str, Fragments]:
        """This rank's fragments of each average of the weights, for a checkpoint."""
        return self._shadow_policies.fragments(self.trainable)

    def restored(self) -> None:
        """Called after a checkpoint was loaded into weights and averages."""
        self._shadow_policies.bind_old_policy()

    def snapshot(self, indices: Collection[int]) -> ShardSnapshots:
        """Copies of the shards at `indices`, to be published while training goes on: the weights that generate, and
        those that are evaluated, where they differ. In ZeRO 3 all ranks gather every shard together.

        Raises:
            NonFiniteError: for weights that are NaN or infinite.
        """
        snapshots: ShardSnapshots = {}
        for index, names in enumerate(self.shards):
            shard = {name: self.trainable[name] for name in names}
            with gathered(shard.values()):
                published = self._shadow_policies.published(shard)
                if index in indices:
                    snapshots[index] = snapshot(published)
        return snapshots

    def exported(self) -> dict[str, torch.Tensor]:
        """A copy of the outcome of a LoRA run: the average where there is one, else the trained weights."""
        with gathered(self.trainable.values()):
            return snapshot(self._shadow_policies.evaluated(self.trainable))

    def untrained(self) -> dict[str, torch.Tensor]:
        """Copies, on the CPU, of what the transformers store and do not train: frozen weights and stored buffers."""
        stored = self.model.transformer.state_dict(keep_vars=True)
        rest = {name: tensor for name, tensor in stored.items() if name not in self.trainable}
        with gathered(tensor for tensor in rest.values() if isinstance(tensor, torch.nn.Parameter)):
            return {name: tensor.detach().cpu().clone() for name, tensor in rest.items()}

    def enter_generation(self) -> None:
        """Allocate what the generation replica needs; nothing in a run whose trainer lanes never generate."""
        if self._replica is not None:
            self._replica.allocate()

    def leave_generation(self) -> None:
        """Free what the generation replica needs only while it generates."""
        if self._replica is None or self.sampler is None:
            return
        self._replica.release()
        if self._replica.releases_weights:
            self.sampler.invalidate_weights()

    def _behaviour_policy(self) -> BehaviourPolicy | None:
        spec = self._spec
        is_needed = spec.pipeline.max_staleness or spec.algorithm.needs.second_adapter or spec.replays_before_update
        return BehaviourPolicy(self._frozen_copy()) if is_needed else None

    def _reference_policy(self) -> ReferencePolicy | None:
        if self._spec.tuning is Tuning.LORA:
            return ReferencePolicy(self.model, None)
        return ReferencePolicy(self.model, self._frozen_copy()) if self._spec.algorithm.needs.reference else None

    def _frozen_copy(self) -> ModelAdapter:
        """A copy of the model that nothing trains; remembered, because ZeRO 3 must know its layers."""
        if self._spec.deepspeed.zero_stage == 3 and self._spec.tuning is Tuning.FULL:
            # Sharded parameters cannot be copied before DeepSpeed is initialised, so the weights are read once more.
            copy = self.model.with_transformer(self._load().transformer)
        else:
            copy = self.model.frozen_copy()
        self._frozen_copies.append(copy)
        return copy


def _load(
    spec: RunSpec, path: str, device: str | torch.device | None, embeddings: Embeddings | None, gpus_per_lane: int
) -> ModelAdapter:
    """The base model with the parts that a trainer rank of this run needs."""
    parts = {Part.TRANSFORMER}
    if spec.pipeline.trainers_generate or spec.algorithm.needs.differentiable_reward:
        parts.add(Part.VAE)
    load = partial(
        load_model,
        spec.base_model,
        path,
        device=device,
        parts=frozenset(parts),
        embeddings=embeddings,
        sampling=spec.sampling,
        performance=training_kernels(spec, gpus_per_lane),
    )
    if spec.deepspeed.zero_stage < 3:
        return load()
    config = deepspeed_config(spec, num_trainable=0)
    transformers = load_sharded(
        path, DTYPES[spec.base_model.dtype], config, on_cpu=spec.deepspeed.initialize_model_on_cpu
    )
    return load(transformers=transformers)
