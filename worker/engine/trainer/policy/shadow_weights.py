"""Weights that follow the trained ones: their moving average, and the older policy of DiffusionNFT.

Buffers below the module that DeepSpeed wraps, so its checkpoints hold them in every ZeRO stage. They are the same on
every rank, since they move by the same numbers; where all weights are trained in ZeRO 3, each rank holds its part.
"""

from collections.abc import Mapping

import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.contracts.algorithms import DiffusionNftSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.diffusion_nft import kept_share
from worker.engine.models.precision import at_least_fp32
from worker.engine.models.sharded_parameters import gather_shards, gathered, local_shard
from worker.engine.sync.packing import EVALUATED, pack
from worker.engine.trainer.policy.behaviour import BehaviourPolicy

Live = Mapping[str, torch.nn.Parameter]
"""What is trained, by name."""
Tensors = Mapping[str, torch.Tensor]


class ShadowWeights(torch.nn.Module):
    """A copy of the trained tensors, in fp32: a small step of an average is lost in half precision."""

    def __init__(self, live: Live) -> None:
        super().__init__()
        for name, parameter in live.items():
            self.register_buffer(_buffer(name), at_least_fp32(local_shard(parameter).detach()).clone())
        self._names = tuple(live)
        # LoRA layers are cut later, when DeepSpeed takes them: they are followed as a whole.
        self._holds_parts = all(is_zero_param(parameter) for parameter in live.values())

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """As held: whole, or this rank's parts."""
        return {name: self.get_buffer(_buffer(name)) for name in self._names}

    @torch.no_grad()
    def follow(self, live: Live, *, keep: float) -> None:
        """Keep a share of itself, 0 to 1, and take the rest from `live`. A collective where that was cut later."""
        with gathered(() if self._holds_parts else live.values()):
            for name, tensor in self.tensors.items():
                source = local_shard(live[name]) if self._holds_parts else live[name]
                tensor.mul_(keep).add_(source, alpha=1 - keep)

    def whole(self, live: Live) -> dict[str, torch.Tensor]:
        """The tensors under the names in `live`, in its dtypes. A collective where this rank holds parts."""
        held = {name: self.get_buffer(_buffer(name)) for name in live}
        if self._holds_parts:
            held = {name: gather_shards(part, live[name]) for name, part in held.items()}
        return {name: tensor.to(live[name].dtype) for name, tensor in held.items()}


class ShadowPolicies(torch.nn.Module):
    """Those that the spec asks for."""

    def __init__(self, spec: RunSpec, live: Live, second: BehaviourPolicy | None) -> None:
        """`second` predicts with the older policy, where the algorithm needs one."""
        super().__init__()
        self._ema = spec.ema
        self._steps_per_batch = spec.algebra.num_optimizer_steps_per_batch
        self._nft = spec.algorithm if isinstance(spec.algorithm, DiffusionNftSpec) else None
        # In a tuple its modules stay invisible to `state_dict()`.
        self._second = (second,)
        self.average = ShadowWeights(live) if spec.ema.decay else None
        self.old = ShadowWeights(live) if self._nft is not None else None

    def are_due(self, num_optimizer_steps: int) -> bool:
        return self._averages(num_optimizer_steps) or self._ends_batch(num_optimizer_steps)

    def follow(self, live: Live, num_optimizer_steps: int) -> None:
        """After an optimizer step, of which so many were taken since the run began."""
        if self.average is not None and self._averages(num_optimizer_steps):
            self.average.follow(live, keep=self._ema.decay)
        if self.old is not None and self._nft is not None and self._ends_batch(num_optimizer_steps):
            self.old.follow(live, keep=kept_share(self._nft, num_optimizer_steps))
            self.restored()

    def start(self, live: Live) -> None:
        """From `live`, as at the beginning of a run."""
        for follower in (self.average, self.old):
            if follower is not None:
                follower.follow(live, keep=0)
        self.restored()

    def restored(self) -> None:
        """Let the older policy predict with what the buffers hold now."""
        second = self._second[0]
        if self.old is not None and second is not None:
            second.take(pack(self.old.tensors, 0))

    def published(self, live: Live) -> dict[str, torch.Tensor]:
        """What draws training data, and what evaluation draws with where that is another, under the names in `live`,
        which is gathered. A collective where followers hold parts."""
        drawing = live if self.old is None else self.old.whole(live)
        if self.average is None and self.old is None:
            return dict(live)
        return {**drawing, **{EVALUATED + name: tensor for name, tensor in self.evaluated(live).items()}}

    def evaluated(self, live: Live) -> Tensors:
        return live if self.average is None else self.average.whole(live)

    def _averages(self, num_optimizer_steps: int) -> bool:
        return self.average is not None and num_optimizer_steps % self._ema.every_num_optimizer_steps == 0

    def _ends_batch(self, num_optimizer_steps: int) -> bool:
        return self.old is not None and num_optimizer_steps % self._steps_per_batch == 0


def _buffer(name: str) -> str:
    """Modules allow no dots in a buffer's name."""
    return name.replace(".", "/")
