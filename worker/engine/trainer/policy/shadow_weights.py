"""Shadow weights: averages of the trained weights, namely their moving average (EMA) and DiffusionNFT's old policy.

Invariant: they are the same on every rank, since every rank updates them by the same numbers; under full fine-tuning in
ZeRO 3, each rank holds its shards of them. They are buffers below the module that DeepSpeed wraps, and move with
it; checkpoints keep them as they keep weights.
"""

from collections.abc import Mapping

import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.contracts.algorithms import DiffusionNftSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.diffusion_nft import old_policy_share
from worker.engine.models.precision import at_least_fp32
from worker.engine.models.sharded_parameters import full_numel, gather_shards, gathered, local_shard
from worker.engine.sync.packing import EVALUATED, pack
from worker.engine.trainer.policy.policies import BehaviourPolicy
from worker.engine.trainer.zero.fragments import Fragment, Fragments, replicated, sharded

Trainable = Mapping[str, torch.nn.Parameter]
"""The trainable parameters, or some of them, by name."""
Tensors = Mapping[str, torch.Tensor]


class ShadowWeights(torch.nn.Module):
    """One average of the trainable parameters, in fp32: the small updates of an average would be lost in bf16."""

    def __init__(self, trainable: Trainable) -> None:
        super().__init__()
        for name, parameter in trainable.items():
            self.register_buffer(_buffer_name(name), at_least_fp32(local_shard(parameter).detach()).clone())
        self._names = tuple(trainable)
        # LoRA layers are sharded later, when DeepSpeed takes them; their shadow weights stay full on every rank.
        self._is_sharded = all(is_zero_param(parameter) for parameter in trainable.values())

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The shadow weights as this rank holds them, by name: full, or flat shards."""
        return {name: self.get_buffer(_buffer_name(name)) for name in self._names}

    def fragments(self, trainable: Trainable) -> dict[str, Fragment]:
        """This rank's fragments of the shadow weights, by name; views, for a checkpoint."""
        if not self._is_sharded:
            return {name: replicated(tensor) for name, tensor in self.tensors.items()}
        rank = torch.distributed.get_rank()
        found = {
            name: sharded(shard, full_numel=full_numel(trainable[name]), rank=rank)
            for name, shard in self.tensors.items()
        }
        return {name: fragment for name, fragment in found.items() if fragment is not None}

    @torch.no_grad()
    def update(self, trainable: Trainable, *, keep: float) -> None:
        """shadow ← keep · shadow + (1 − keep) · trainable, with `keep` from 0 to 1. A collective in ZeRO 3 with LoRA,
        whose trainable parameters are gathered for it."""
        with gathered(() if self._is_sharded else trainable.values()):
            for name, tensor in self.tensors.items():
                source = local_shard(trainable[name]) if self._is_sharded else trainable[name]
                tensor.mul_(keep).add_(source, alpha=1 - keep)

    def full(self, trainable: Trainable) -> dict[str, torch.Tensor]:
        """The full tensors under the names in `trainable`, in its dtypes. A collective where this rank holds shards."""
        tensors = {name: self.get_buffer(_buffer_name(name)) for name in trainable}
        if self._is_sharded:
            tensors = {name: gather_shards(shard, trainable[name]) for name, shard in tensors.items()}
        return {name: tensor.to(trainable[name].dtype) for name, tensor in tensors.items()}


class ShadowPolicies(torch.nn.Module):
    """The shadow weights that the spec asks for."""

    def __init__(self, spec: RunSpec, trainable: Trainable, behaviour: BehaviourPolicy | None) -> None:
        """`behaviour` predicts with DiffusionNFT's old policy, where the algorithm needs one."""
        super().__init__()
        self._ema = spec.ema
        self._steps_per_batch = spec.algebra.num_optimizer_steps_per_batch
        self._nft = spec.algorithm if isinstance(spec.algorithm, DiffusionNftSpec) else None
        # In a tuple its modules stay invisible to `state_dict()`.
        self._behaviour = (behaviour,)
        self.average = ShadowWeights(trainable) if spec.ema.decay else None
        """The moving average (EMA), where the spec sets a decay."""
        self.old = ShadowWeights(trainable) if self._nft is not None else None
        """DiffusionNFT's old policy."""

    def are_due(self, num_optimizer_steps: int) -> bool:
        """Whether `update` changes anything after so many optimizer steps."""
        return self._average_is_due(num_optimizer_steps) or self._old_policy_is_due(num_optimizer_steps)

    def update(self, trainable: Trainable, num_optimizer_steps: int) -> None:
        """Update what is due after an optimizer step. In ZeRO 3 a collective.

        Args:
            trainable: all trainable parameters.
            num_optimizer_steps: steps taken since the run began, this one included.
        """
        if self.average is not None and self._average_is_due(num_optimizer_steps):
            self.average.update(trainable, keep=self._ema.decay)
        if self.old is not None and self._nft is not None and self._old_policy_is_due(num_optimizer_steps):
            self.old.update(trainable, keep=old_policy_share(self._nft, num_optimizer_steps))
            self.bind_old_policy()

    def reset(self, trainable: Trainable) -> None:
        """Set all shadow weights to `trainable`, as at the beginning of a run. In ZeRO 3 a collective."""
        for shadow in (self.average, self.old):
            if shadow is not None:
                shadow.update(trainable, keep=0)
        self.bind_old_policy()

    def bind_old_policy(self) -> None:
        """Let the behaviour policy predict with DiffusionNFT's old policy as the buffers hold it now."""
        behaviour = self._behaviour[0]
        if self.old is not None and behaviour is not None:
            behaviour.bind(pack(self.old.tensors, 0))

    def fragments(self, trainable: Trainable) -> dict[str, Fragments]:
        """This rank's fragments of each average, for a checkpoint."""
        shadows = {"average": self.average, "old": self.old}
        return {kind: shadow.fragments(trainable) for kind, shadow in shadows.items() if shadow is not None}

    def published(self, trainable: Trainable) -> dict[str, torch.Tensor]:
        """The weights of a version: those that draw training data, and under `EVALUATED` names those that evaluation
        draws with, where they differ.

        A collective where this rank holds shards of the shadow weights; `trainable` must be gathered already.
        """
        drawing = trainable if self.old is None else self.old.full(trainable)
        if self.average is None and self.old is None:
            return dict(trainable)
        return {**drawing, **{EVALUATED + name: tensor for name, tensor in self.evaluated(trainable).items()}}

    def evaluated(self, trainable: Trainable) -> Tensors:
        """The weights that are evaluated and exported: the average where there is one, else `trainable`."""
        return trainable if self.average is None else self.average.full(trainable)

    def _average_is_due(self, num_optimizer_steps: int) -> bool:
        return self.average is not None and num_optimizer_steps % self._ema.every_num_optimizer_steps == 0

    def _old_policy_is_due(self, num_optimizer_steps: int) -> bool:
        return self.old is not None and num_optimizer_steps % self._steps_per_batch == 0


def _buffer_name(name: str) -> str:
    """`name` without dots, which torch forbids in the names of buffers."""
    return name.replace(".", "/")
