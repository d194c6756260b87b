"""The memory that a trainer rank holds between two optimizer steps, by purpose; each storage is counted once."""

from collections.abc import Iterable

import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.state_offload import reachable_tensors


def state_bytes(trainer: TrainerRank) -> dict[str, int]:
    """Bytes of `weights` (base and trainable), `optimizer` (master weights and moments), `gradients` (and buckets)."""
    counted: set[int] = set()

    def count(tensors: Iterable[torch.Tensor]) -> int:
        storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
        fresh = storages.keys() - counted
        counted.update(fresh)
        return sum(storages[pointer] for pointer in fresh)

    optimizer = trainer._deepspeed_engine.optimizer
    inner = getattr(optimizer, "optimizer", optimizer)
    parameters = [*trainer._policy.module.parameters(), *trainer._model.transformer.parameters()]
    shards = [parameter.ds_tensor for parameter in parameters if is_zero_param(parameter)]
    return {
        "weights": count([*(parameter.data for parameter in parameters), *shards]),
        "optimizer": count(
            [parameter.data for group in inner.param_groups for parameter in group["params"]]
            + [value for state in inner.state.values() for value in state.values() if isinstance(value, torch.Tensor)]
            + list(getattr(optimizer, "fp32_partitioned_groups_flat", ()))
        ),
        "gradients": count([*reachable_tensors(optimizer), *(p.grad for p in parameters if p.grad is not None)]),
    }
