"""Adapters that follow the trained one: its moving average, and the older policy of DiffusionNFT.

Buffers below the module that DeepSpeed wraps, so its checkpoints hold them in every ZeRO stage. They are the same on
every rank, since they move by the same numbers.
"""

from collections.abc import Mapping

import torch

from worker.contracts.algorithms import DiffusionNftSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.diffusion_nft import kept_share
from worker.engine.sync.adapter import EVALUATED, publish
from worker.engine.trainer.behaviour import BehaviourPolicy

Tensors = Mapping[str, torch.Tensor]
"""By peft name."""


class Follower(torch.nn.Module):
    """A copy of the trained tensors."""

    def __init__(self, live: Tensors) -> None:
        super().__init__()
        for name, tensor in live.items():
            self.register_buffer(_buffer(name), tensor.detach().clone())
        self._names = tuple(live)

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        return {name: self.get_buffer(_buffer(name)) for name in self._names}

    @torch.no_grad()
    def follow(self, live: Tensors, *, keep: float) -> None:
        """Keep a share of itself, 0 to 1, and take the rest from `live`."""
        for name, tensor in self.tensors.items():
            tensor.mul_(keep).add_(live[name], alpha=1 - keep)


class Followers(torch.nn.Module):
    """Those that the spec asks for."""

    def __init__(self, spec: RunSpec, live: Tensors, second: BehaviourPolicy | None) -> None:
        """`second` predicts with the older policy, where the algorithm needs one."""
        super().__init__()
        self._ema = spec.ema
        self._steps_per_batch = spec.algebra.num_optimizer_steps_per_batch
        self._nft = spec.algorithm if isinstance(spec.algorithm, DiffusionNftSpec) else None
        # In a tuple its modules stay invisible to `state_dict()`.
        self._second = (second,)
        self.average = Follower(live) if spec.ema.decay else None
        self.old = Follower(live) if self._nft is not None else None

    def are_due(self, num_optimizer_steps: int) -> bool:
        return self._averages(num_optimizer_steps) or self._ends_batch(num_optimizer_steps)

    def follow(self, live: Tensors, num_optimizer_steps: int) -> None:
        """After an optimizer step, of which so many were taken since the run began."""
        if self.average is not None and self._averages(num_optimizer_steps):
            self.average.follow(live, keep=self._ema.decay)
        if self.old is not None and self._nft is not None and self._ends_batch(num_optimizer_steps):
            self.old.follow(live, keep=kept_share(self._nft, num_optimizer_steps))
            self.restored()

    def start(self, live: Tensors) -> None:
        """From `live`, as at the beginning of a run."""
        for follower in (self.average, self.old):
            if follower is not None:
                follower.follow(live, keep=0)
        self.restored()

    def restored(self) -> None:
        """Let the older policy predict with what the buffers hold now."""
        second = self._second[0]
        if self.old is not None and second is not None:
            second.take(publish(self.old.tensors, 0))

    def published(self, live: Tensors) -> dict[str, torch.Tensor]:
        """What draws training data, and what evaluation draws with where that is another."""
        drawing = live if self.old is None else self.old.tensors
        evaluated = self.evaluated(live)
        if evaluated is drawing:
            return dict(live)
        return {**drawing, **{EVALUATED + name: tensor for name, tensor in evaluated.items()}}

    def evaluated(self, live: Tensors) -> Tensors:
        return live if self.average is None else self.average.tensors

    def _averages(self, num_optimizer_steps: int) -> bool:
        return self.average is not None and num_optimizer_steps % self._ema.every_num_optimizer_steps == 0

    def _ends_batch(self, num_optimizer_steps: int) -> bool:
        return self.old is not None and num_optimizer_steps % self._steps_per_batch == 0


def _buffer(name: str) -> str:
    """Modules allow no dots in a buffer's name."""
    return name.replace(".", "/")
