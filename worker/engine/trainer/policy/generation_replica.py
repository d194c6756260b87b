"""The generation replica: the model that a trainer rank generates with while it is lent, beside the one it trains.

```text
                    LoRA, ZeRO 0 to 2           LoRA, ZeRO 3                  full fine-tuning
frozen base         shared with the trained     gathered while it is lent     as with LoRA
trainable tensors   own, always allocated       own, always allocated         own, allocated while it is lent
```

What is allocated only while the rank is lent takes no memory otherwise; its trainable tensors are bound again from a
published version.
"""

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param

from worker.contracts.names import Tuning
from worker.engine.models.base import ModelAdapter
from worker.engine.models.sharded_parameters import full_numel, full_shape, gathered

GATHERED_NUMEL = 50_000_000
"""Elements that are gathered at once: they take memory beside the replica only until they are copied into it. As many
as DeepSpeed prefetches by default (`stage3_prefetch_bucket_size`), 100 MB in bf16."""

ParameterPair = tuple[torch.nn.Parameter, torch.nn.Parameter]
"""A parameter of the trained model, and the replica's."""


class GenerationReplica:
    """A second module tree of the trained model; made before DeepSpeed takes the trainable parameters."""

    def __init__(self, model: ModelAdapter, tuning: Tuning) -> None:
        trainable = {id(parameter) for parameter in model.trainable.values()}
        parameters = list(model.transformer.parameters())
        is_full_tuning = tuning is Tuning.FULL
        self._frozen = [(p, _empty_parameter(p)) for p in parameters if id(p) not in trainable and is_zero_param(p)]
        self._trainable = [(p, _empty_parameter(p)) for p in parameters if id(p) in trainable and is_full_tuning]
        # `deepcopy` takes what is in the memo instead of copying it.
        memo: dict[int, Any] = {id(buffer): buffer for buffer in model.transformer.buffers()}
        memo |= {id(p): p for p in parameters if id(p) not in trainable}
        memo |= {id(parameter): empty for parameter, empty in self._frozen + self._trainable}
        self.model = model.with_transformer(copy.deepcopy(model.transformer, memo))
        for parameter in self.model.trainable.values():
            parameter.requires_grad_(False)

    @property
    def releases_weights(self) -> bool:
        """Whether `release` frees trainable tensors, so that they must be bound again."""
        return bool(self._trainable)

    @torch.no_grad()
    def allocate(self) -> None:
        """Allocate the trainable tensors and gather the sharded base, some layers at a time. In ZeRO 3 a collective."""
        for parameter, own in self._trainable:
            own.data = own.data.new_empty(full_shape(parameter))
        for chunk in _chunks(self._frozen):
            with gathered(parameter for parameter, _ in chunk):
                for parameter, own in chunk:
                    own.data = parameter.data.clone()

    def release(self) -> None:
        """Free what `allocate` allocated."""
        for _, own in self._frozen + self._trainable:
            own.data = own.data.new_empty(0)


def _empty_parameter(parameter: torch.nn.Parameter) -> torch.nn.Parameter:
    """A frozen parameter of the same dtype and device without elements."""
    return torch.nn.Parameter(parameter.data.new_empty(0), requires_grad=False)


def _chunks(pairs: Iterable[ParameterPair]) -> Iterator[list[ParameterPair]]:
    """The pairs in lists of at least `GATHERED_NUMEL` elements; the last one may hold fewer."""
    chunk: list[ParameterPair] = []
    numel = 0
    for pair in pairs:
        chunk.append(pair)
        numel += full_numel(pair[0])
        if numel >= GATHERED_NUMEL:
            yield chunk
            chunk, numel = [], 0
    if chunk:
        yield chunk
