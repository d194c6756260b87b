"""The model of one trainer rank: what is trained, what generates while the rank is lent, what replays stale data.

All of them stand on one base. In ZeRO 0, 1 and 2 they share its storage; in ZeRO 3 the base is cut over the ranks, and
gathered layer by layer. Where all weights are trained, a second policy is a copy of them.
"""

from collections.abc import Collection, Mapping
from functools import partial

import torch

from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.experts import experts_of
from worker.engine.models.pipeline_loading import Part
from worker.engine.models.registry import DTYPES, load_model
from worker.engine.models.sharded_parameters import full_numel, gathered
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync import shards
from worker.engine.sync.binding import bind
from worker.engine.sync.packing import snapshot
from worker.engine.trainer.policy.behaviour import BehaviourPolicy
from worker.engine.trainer.policy.generation_replica import GenerationReplica
from worker.engine.trainer.policy.policy_module import PolicyModule, ShardedPolicyModule
from worker.engine.trainer.policy.reference import ReferencePolicy
from worker.engine.trainer.policy.shadow_weights import ShadowPolicies
from worker.engine.trainer.zero.activation_checkpointing import recompute_blocks
from worker.engine.trainer.zero.deepspeed_config import deepspeed_config
from worker.engine.trainer.zero.sharded_loading import load_sharded
from worker.engine.types import PublishedVersion

Copies = dict[int, dict[str, torch.Tensor]]
"""A snapshot: the place of a shard → its tensors by name."""


class TrainedPolicy:
    """Whatever gathers is entered by every rank: `bind`, `snapshot`, `exported` and `lend` in ZeRO 3."""

    def __init__(
        self,
        spec: RunSpec,
        base_model_path: str,
        device: str | torch.device | None,
        embeddings: Mapping[str, PromptEmbeds] | None = None,
    ) -> None:
        """Load the base and make ready what is trained (the same on every rank)."""
        load = partial(_load, spec, base_model_path, device, embeddings)
        is_sharded, generates = spec.deepspeed.zero_stage == 3, spec.pipeline.trainers_generate
        self.model = load()
        self.model.train(spec)
        self.parameters = self.model.trained
        """What is trained, by name."""
        self.shards = shards.cut(self.parameters, list(experts_of(self.model.transformer)))
        """Names in each shard of a published version."""
        # Copies are made before DeepSpeed hooks into anything.
        self._twin = GenerationReplica(self.model, spec.tuning) if generates else None
        self.generator: Sampler | None = None
        """`None` where the run never lends."""
        if self._twin is not None:
            self.generator = Sampler(spec, self._twin.model, loses_weights=self._twin.loses_weights)
        beside: list[ModelAdapter] = []

        def copied() -> ModelAdapter:
            is_read_again = is_sharded and spec.tuning is Tuning.FULL
            # A cut parameter cannot be copied before DeepSpeed knows it; reading it again holds no more than a layer.
            beside.append(self.model.around(load().transformer) if is_read_again else self.model.twin())
            return beside[-1]

        needs = spec.algorithm.needs
        self.behaviour = BehaviourPolicy(copied()) if spec.pipeline.max_staleness or needs.second_adapter else None
        """The older policy that stale data or the algorithm ask for."""
        self.reference: ReferencePolicy | None = None
        """What training started from, where the algorithm needs it or it is there for nothing."""
        if spec.tuning is Tuning.LORA:
            self.reference = ReferencePolicy(self.model, None)
        elif needs.reference:
            self.reference = ReferencePolicy(self.model, copied())
        num_parameters = sum(full_numel(parameter) for parameter in self.model.transformer.parameters())
        recompute_blocks(
            self.model.transformer, spec.deepspeed.recomputed_blocks(num_parameters), is_sharded=is_sharded
        )
        self.module = ShardedPolicyModule(self.model, beside) if is_sharded else PolicyModule(self.model)
        """For DeepSpeed to wrap."""
        self._followers = ShadowPolicies(spec, self.parameters, self.behaviour)
        self.module.add_module("followers", self._followers)

    def bind(self, version: PublishedVersion) -> None:
        """Start from these weights, followers too. Raises `SyncError` as a pull does."""
        bind(self.parameters, version)
        self._followers.start(self.parameters)

    def stepped(self, num_optimizer_steps: int) -> None:
        """To be called after each optimizer step, with the number of them since the run began."""
        if self._followers.are_due(num_optimizer_steps):
            self._followers.follow(self.parameters, num_optimizer_steps)

    def restored(self) -> None:
        """To be called when a checkpoint was loaded."""
        self._followers.restored()

    def snapshot(self, places: Collection[int]) -> Copies:
        """A copy of what generates, to be published while training goes on, and of what is evaluated if that is not
        the same: the shards at these places, all ranks together gathering every one."""
        copies: Copies = {}
        for place, names in enumerate(self.shards):
            part = {name: self.parameters[name] for name in names}
            with gathered(part.values()):
                published = self._followers.published(part)
                if place in places:
                    copies[place] = snapshot(published)
        return copies

    def exported(self) -> dict[str, torch.Tensor]:
        """A LoRA run's outcome: the average where there is one, else the trained weights."""
        with gathered(self.parameters.values()):
            return snapshot(self._followers.evaluated(self.parameters))

    def untrained(self) -> dict[str, torch.Tensor]:
        """What the transformers hold beside what is trained: weights that stay frozen, buffers that are stored."""
        stored = self.model.transformer.state_dict(keep_vars=True)
        rest = {name: tensor for name, tensor in stored.items() if name not in self.parameters}
        with gathered(tensor for tensor in rest.values() if isinstance(tensor, torch.nn.Parameter)):
            return {name: tensor.detach().cpu().clone() for name, tensor in rest.items()}

    def lend(self, *, to_generation: bool) -> None:
        """Make ready for one or the other."""
        if self._twin is None or self.generator is None:
            return
        if to_generation:
            self._twin.fill()
            return
        self._twin.empty()
        if self._twin.loses_weights:
            self.generator.weights_lost()


def _load(
    spec: RunSpec, path: str, device: str | torch.device | None, embeddings: Mapping[str, PromptEmbeds] | None
) -> ModelAdapter:
    parts = {Part.TRANSFORMER}
    if spec.pipeline.trainers_generate or spec.algorithm.needs.differentiable_reward:
        parts.add(Part.VAE)
    if embeddings is None:
        parts.add(Part.TEXT_ENCODERS)
    load = partial(
        load_model,
        spec.base_model,
        path,
        device=device,
        parts=frozenset(parts),
        embeddings=embeddings,
        performance=spec.performance,
    )
    if spec.deepspeed.zero_stage < 3:
        return load()
    config = deepspeed_config(spec, num_trainable=0)
    transformers = load_sharded(
        path, DTYPES[spec.base_model.dtype], config, on_cpu=spec.deepspeed.initialize_model_on_cpu
    )
    return load(transformers=transformers)
