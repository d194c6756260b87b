"""What a checkpoint keeps of one trainer rank: fragments by quantity and parameter, and counters.

```text
weights             the weights that the optimizer steps: fp32 masters where they exist
exp_avg exp_avg_sq  the moments, once a step was taken
average old         shadow weights, where the run has them
```
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.engine.models.sharded_parameters import full_numel, full_shape, local_shard
from worker.engine.sync.finite import require_finite
from worker.engine.trainer.zero.fragments import Fragment, Fragments, replicated, sharded
from worker.engine.trainer.zero.optimizer_state import MOMENTS, OptimizerState

WEIGHTS = "weights"
"""The quantity of the weights that the optimizer steps."""


class TrainingState:
    """The training state of one rank, to be written or replaced."""

    def __init__(
        self,
        deepspeed_engine: Any,
        trainable: Mapping[str, torch.nn.Parameter],
        shadow_weights: Mapping[str, Fragments],
    ) -> None:
        """
        Args:
            deepspeed_engine: whose optimizer and counters are kept.
            trainable: the trainable parameters by name.
            shadow_weights: this rank's fragments of each average of the weights, by the average's name.
        """
        self._engine = deepspeed_engine
        self._trainable = trainable
        self._shadow_weights = shadow_weights
        self.optimizer = OptimizerState(deepspeed_engine, trainable)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The full shape of every trainable parameter."""
        return {name: full_shape(parameter) for name, parameter in self._trainable.items()}

    @property
    def zero_stage(self) -> int:
        return int(self._engine.zero_optimization_stage())

    @property
    def quantities(self) -> frozenset[str]:
        """What must be stored for every parameter; moments are stored once a step was taken."""
        return frozenset({WEIGHTS, *self._shadow_weights})

    def fragments(self) -> Iterator[tuple[str, Fragment]]:
        """All that this rank holds, by `<quantity>/<parameter>`."""
        held = {WEIGHTS: self.optimizer.masters, **self.optimizer.moments, **self._shadow_weights}
        for quantity, fragments in held.items():
            for name, fragment in fragments.items():
                yield f"{quantity}/{name}", fragment

    def needed(self, stepped: Collection[str]) -> Iterator[tuple[str, int, int]]:
        """What this rank reads of a checkpoint that has moments of the parameters `stepped`: (`<quantity>/<parameter>`,
        index of the first element in the flattened tensor, number of elements)."""
        for quantity, fragments in {WEIGHTS: self.optimizer.masters, **self._shadow_weights}.items():
            for name, fragment in fragments.items():
                quantities = (quantity, *MOMENTS) if quantity == WEIGHTS and name in stepped else (quantity,)
                for each in quantities:
                    yield f"{each}/{name}", fragment.start, fragment.values.numel()

    def require_finite(self) -> None:
        """Raise `NonFiniteError` when a weight, master weight or moment of this rank is NaN or infinite."""
        require_finite("weights", self._local_weights())
        held = {WEIGHTS: self.optimizer.masters, **self.optimizer.moments}
        state = {f"{name} ({quantity})": each.values for quantity in held for name, each in held[quantity].items()}
        require_finite("optimizer state", state)

    @property
    def counters(self) -> dict[str, int]:
        """DeepSpeed's counts of optimizer steps, and of those it skipped since a gradient was not finite."""
        return {"optimizer_steps": int(self._engine.global_steps), "skipped_steps": int(self._engine.skipped_steps)}

    def set_counters(self, *, optimizer_steps: int, skipped_steps: int) -> None:
        self._engine.global_steps, self._engine.skipped_steps = optimizer_steps, skipped_steps

    def _local_weights(self) -> dict[str, torch.Tensor]:
        """The trained weights as this rank holds them, without the padding of shards in ZeRO 3, which DeepSpeed never
        writes: it may be anything, NaN too."""
        rank = torch.distributed.get_rank()
        shards = {
            name: sharded(local_shard(parameter), full_numel=full_numel(parameter), rank=rank)
            if is_zero_param(parameter)
            else replicated(parameter)
            for name, parameter in self._trainable.items()
        }
        return {name: shard.values for name, shard in shards.items() if shard is not None}
