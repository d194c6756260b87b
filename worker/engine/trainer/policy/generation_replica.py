"""The model that a trainer rank generates with while it is lent, beside the one that it trains.

```text
                 LoRA, ZeRO 0 to 2      LoRA, ZeRO 3                 all weights
frozen base      the trained one's      gathered while it is lent    as with LoRA
trained tensors  own, kept              own, kept                    own, there only while it is lent
```

What is there only while the rank is lent takes no memory otherwise; trained tensors come back with the next pull.
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
"""Elements gathered at once."""

Pair = tuple[torch.nn.Parameter, torch.nn.Parameter]
"""A parameter of the trained model, and the twin's."""


class GenerationReplica:
    """To be made before DeepSpeed takes the trained parameters."""

    def __init__(self, model: ModelAdapter, tuning: Tuning) -> None:
        trained = {id(parameter) for parameter in model.trained.values()}
        parameters = list(model.transformer.parameters())
        is_whole = tuning is Tuning.FULL
        self._frozen = [(p, _hollow(p)) for p in parameters if id(p) not in trained and is_zero_param(p)]
        self._trained = [(p, _hollow(p)) for p in parameters if id(p) in trained and is_whole]
        # What is in the memo already, `deepcopy` takes as it is.
        memo: dict[int, Any] = {id(buffer): buffer for buffer in model.transformer.buffers()}
        memo |= {id(p): p for p in parameters if id(p) not in trained}
        memo |= {id(parameter): hollow for parameter, hollow in self._frozen + self._trained}
        self.model = model.around(copy.deepcopy(model.transformer, memo))
        for parameter in self.model.trained.values():
            parameter.requires_grad_(False)

    @property
    def loses_weights(self) -> bool:
        """Whether trained tensors are gone after `empty`."""
        return bool(self._trained)

    @torch.no_grad()
    def fill(self) -> None:
        """Make room for what is trained, and gather the base, some layers at a time: every rank must enter it where
        that is cut."""
        for parameter, own in self._trained:
            own.data = own.data.new_empty(full_shape(parameter))
        for chunk in _chunks(self._frozen):
            with gathered(parameter for parameter, _ in chunk):
                for parameter, own in chunk:
                    own.data = parameter.data.clone()

    def empty(self) -> None:
        """Free it again."""
        for _, own in self._frozen + self._trained:
            own.data = own.data.new_empty(0)


def _hollow(parameter: torch.nn.Parameter) -> torch.nn.Parameter:
    return torch.nn.Parameter(parameter.data.new_empty(0), requires_grad=False)


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    chunk: list[Pair] = []
    numel = 0
    for pair in pairs:
        chunk.append(pair)
        numel += full_numel(pair[0])
        if numel >= GATHERED_NUMEL:
            yield chunk
            chunk, numel = [], 0
    if chunk:
        yield chunk
