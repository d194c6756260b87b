"""The model of one trainer rank: what is trained, what generates while the rank is lent, what replays stale data.

All of them stand on one base. In ZeRO 0, 1 and 2 they share its storage; in ZeRO 3 the base is cut over the ranks, the
twin that generates is filled with all of it while it is lent, and the others gather it layer by layer.
"""

from collections.abc import Mapping
from functools import partial

import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embeddings import PromptEmbeds
from worker.engine.models.lora import add_lora, lora_parameters
from worker.engine.models.parts import Part
from worker.engine.models.registry import DTYPES, load_model
from worker.engine.rollout.engine import RolloutEngine
from worker.engine.sync.adapter import bind, snapshot
from worker.engine.trainer.behaviour import BehaviourPolicy
from worker.engine.trainer.deepspeed_config import deepspeed_config
from worker.engine.trainer.followers import Followers
from worker.engine.trainer.policy_module import CutPolicyModule, PolicyModule
from worker.engine.trainer.recomputation import recompute_blocks
from worker.engine.trainer.sharding import WholeTwin, gathered, load_cut, whole_numel
from worker.engine.types import PublishedAdapter


class TrainedPolicy:
    """Whatever gathers is entered by every rank: `bind`, `snapshot` and `lend` in ZeRO 3."""

    def __init__(
        self,
        spec: RunSpec,
        base_model_path: str,
        device: str | torch.device | None,
        embeddings: Mapping[str, PromptEmbeds] | None = None,
    ) -> None:
        """Load the base and add the LoRA (the same on every rank, from `spec.seed`)."""
        is_cut, generates = spec.deepspeed.zero_stage == 3, spec.pipeline.trainers_generate
        self.model = _load(spec, base_model_path, device, embeddings)
        add_lora(self.model.transformer, spec.lora, self.model.default_lora_targets, seed=spec.seed)
        self.parameters = lora_parameters(self.model.transformer)
        """What is trained, by peft name."""
        # Twins are made before DeepSpeed hooks into anything.
        self._whole = WholeTwin(self.model) if is_cut and generates else None
        twin = self.model.twin() if self._whole is None else self._whole.model
        self.generator = RolloutEngine(spec, twin) if generates else None
        """`None` where the run never lends."""
        needs_second = bool(spec.pipeline.max_staleness) or spec.algorithm.needs.second_adapter
        self.behaviour = BehaviourPolicy(self.model) if needs_second else None
        """The older policy that stale data or the algorithm ask for."""
        num_parameters = sum(whole_numel(parameter) for parameter in self.model.transformer.parameters())
        every = spec.deepspeed.recomputed_blocks(num_parameters)
        recompute_blocks(self.model.transformer, every, is_cut=is_cut)
        behaviour = None if self.behaviour is None else self.behaviour.transformer
        self.module = CutPolicyModule(self.model, behaviour) if is_cut else PolicyModule(self.model)
        """For DeepSpeed to wrap."""
        self._followers = Followers(spec, self.parameters, self.behaviour)
        self.module.add_module("followers", self._followers)

    def bind(self, adapter: PublishedAdapter) -> None:
        """Start from these weights, followers too. Raises `SyncError` as a pull does."""
        with gathered(self.parameters.values(), written=True):
            bind(self.model.transformer, adapter)
        with gathered(self.parameters.values()):
            self._followers.start(self.parameters)

    def stepped(self, num_optimizer_steps: int) -> None:
        """To be called after each optimizer step, with the number of them since the run began."""
        if self._followers.are_due(num_optimizer_steps):
            with gathered(self.parameters.values()):
                self._followers.follow(self.parameters, num_optimizer_steps)

    def restored(self) -> None:
        """To be called when a checkpoint was loaded."""
        self._followers.restored()

    def snapshot(self) -> dict[str, torch.Tensor]:
        """A copy of what generates, to be published while training goes on, and of what is evaluated if that is not
        the same."""
        with gathered(self.parameters.values()):
            return snapshot(self._followers.published(self.parameters))

    def exported(self) -> dict[str, torch.Tensor]:
        """What a run is for: the average where there is one, else the trained weights."""
        with gathered(self.parameters.values()):
            return snapshot(self._followers.evaluated(self.parameters))

    def lend(self, *, to_generation: bool) -> None:
        """Make ready for one or the other."""
        if self._whole is None:
            return
        if to_generation:
            self._whole.fill()
        else:
            self._whole.empty()


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
    transformers = load_cut(path, DTYPES[spec.base_model.dtype], config, on_cpu=spec.deepspeed.initialize_model_on_cpu)
    return load(transformers=transformers)
