"""Master weights, moments and step counts by parameter name, wherever a ZeRO stage keeps them.

```text
stage     master weights                                moments and step count
0         the parameter itself                          of each parameter
1 and 2   this rank's part of all parameters in a row   one pair and one count for that part
3         this rank's part of every parameter, in a     one pair and one count for each row
          row for each sub-group
```

DeepSpeed's public access (`safe_get_full_optimizer_state` and its kin) is not used: it has no step counts, gathers
whole tensors, knows no moments before the first step, and in ZeRO 1 and 2 takes parameters to lie in their original
order, which `round_robin_gradients` changes (deepspeed 0.19, `_link_all_hp_params`). With `gradients`, the only module
that relies on private state of DeepSpeed's optimizers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from deepspeed.runtime.zero.stage3 import DeepSpeedZeroOptimizer_Stage3
from deepspeed.runtime.zero.stage_1_and_2 import DeepSpeedZeroOptimizer

from worker.engine.trainer.zero.fragments import Fragment, Fragments

MOMENTS = ("exp_avg", "exp_avg_sq")
"""AdamW's names of its two moments, which have the shape of what it steps."""
STEP = "step"
"""AdamW's name of the number of steps it has taken."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Where this rank holds its part of one parameter."""

    name: str
    """The parameter's name."""
    row: torch.Tensor
    """The tensor that torch's optimizer steps: the parameter, or a row of parts of many."""
    offset: int
    """The index of the part's first element in the flattened `row`."""
    start: int
    """The index of the part's first element in the flattened parameter."""
    numel: int
    """The number of elements of the part, without padding."""
    is_replicated: bool = False

    def of(self, row: torch.Tensor) -> Fragment:
        """The part of a tensor that is laid out as `row`."""
        values = row.data.view(-1)[self.offset : self.offset + self.numel]
        return Fragment(self.start, values, self.is_replicated)


class OptimizerState:
    """The optimizer state of one rank. Fragments are views: what is written into them is what training goes on with,
    after `apply_masters`."""

    def __init__(self, deepspeed_engine: Any, trainable: Mapping[str, torch.nn.Parameter]) -> None:
        self._optimizer = deepspeed_engine.optimizer
        # DeepSpeed wraps torch's optimizer in stages 1 to 3.
        self._states = getattr(self._optimizer, "optimizer", self._optimizer).state
        self._spans = tuple(_spans(self._optimizer, trainable))

    @property
    def masters(self) -> dict[str, Fragment]:
        """The weights that the optimizer steps, in fp32 where the trained ones are of lower precision."""
        return {span.name: span.of(span.row) for span in self._spans}

    @property
    def moments(self) -> dict[str, Fragments]:
        """The moments by their name in `MOMENTS`, of parameters that were stepped already."""
        return {
            moment: {span.name: span.of(self._states[span.row][moment]) for span in self._stepped()}
            for moment in MOMENTS
        }

    @property
    def steps(self) -> dict[str, int]:
        """The number of steps taken, of parameters that were stepped already."""
        return {span.name: int(self._states[span.row][STEP]) for span in self._stepped()}

    def set_steps(self, steps: Mapping[str, int]) -> None:
        """Set the numbers of steps. Where there are any, moments are allocated, as zeros."""
        for span in self._spans:
            state = self._states[span.row]
            if not state and steps:
                # As `torch.optim.AdamW` does before its first step where it is fused.
                state[STEP] = torch.zeros((), dtype=torch.float32, device=span.row.device)
                state |= {moment: torch.zeros_like(span.row, requires_grad=False) for moment in MOMENTS}
            if state:
                # A row of many parameters is stepped as one, so its count is the largest of theirs.
                count = steps.get(span.name, 0) if span.is_replicated else max(steps.values(), default=0)
                state[STEP].fill_(count)

    def release_gathered(self) -> None:
        """Called before masters are written: in ZeRO 3, weights that are gathered would hide the change."""
        if isinstance(self._optimizer, DeepSpeedZeroOptimizer_Stage3):
            self._optimizer.checkpoint_event_prologue()

    def apply_masters(self) -> None:
        """Make the trained weights what the masters say; a collective in ZeRO 1 to 3."""
        if isinstance(self._optimizer, DeepSpeedZeroOptimizer_Stage3):
            for index in range(len(self._optimizer.fp16_groups)):
                self._optimizer._reassign_or_swap_out_partitioned_parameters(index)
            self._optimizer.checkpoint_event_epilogue()
        elif isinstance(self._optimizer, DeepSpeedZeroOptimizer):
            self._optimizer.update_lp_params()

    def _stepped(self) -> Iterator[_Span]:
        return (span for span in self._spans if self._states.get(span.row))


def _spans(optimizer: Any, trainable: Mapping[str, torch.nn.Parameter]) -> Iterator[_Span]:
    names = {id(parameter): name for name, parameter in trainable.items()}
    if isinstance(optimizer, DeepSpeedZeroOptimizer_Stage3):
        return _spans_of_shards(optimizer, names)
    if isinstance(optimizer, DeepSpeedZeroOptimizer):
        return _spans_of_partition(optimizer, names)
    return (
        _Span(name, parameter, 0, 0, parameter.numel(), is_replicated=True) for name, parameter in trainable.items()
    )


def _spans_of_partition(optimizer: Any, names: Mapping[int, str]) -> Iterator[_Span]:
    """ZeRO 1 and 2: all parameters in a row, of which every rank holds a part of equal length."""
    rank = torch.distributed.get_rank()
    for parameters, offsets, row in zip(
        optimizer.round_robin_bit16_groups,
        optimizer.round_robin_bit16_offsets,
        optimizer.single_partition_of_fp32_groups,
        strict=True,
    ):
        first = rank * row.numel()
        for parameter, offset in zip(parameters, offsets, strict=True):
            start, end = max(offset, first), min(offset + parameter.numel(), first + row.numel())
            if start < end:
                yield _Span(names[id(parameter)], row, start - first, start - offset, end - start)


def _spans_of_shards(optimizer: Any, names: Mapping[int, str]) -> Iterator[_Span]:
    """ZeRO 3: of every parameter a shard of equal length on every rank; the last ones may be padded."""
    rank = torch.distributed.get_rank()
    for parameters, row in zip(optimizer.fp16_groups, optimizer.fp32_partitioned_groups_flat, strict=True):
        offset = 0
        for parameter in parameters:
            shard_numel = parameter.partition_numel()
            start = rank * shard_numel
            numel = min(shard_numel, parameter.ds_numel - start)
            if numel > 0:
                yield _Span(names[id(parameter)], row, offset, start, numel)
            offset += shard_numel
