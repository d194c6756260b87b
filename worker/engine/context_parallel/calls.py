"""The forward passes of a lane's transformer, made on all its ranks.

```text
rank 0     sampler ─► transformer(latents, …) ─► inputs are sent ─► own part ─► prediction ─► SDE step, decoding
followers  follow_calls ◄───────────────────────────── inputs ─► own part ─► …, until `SpreadCalls.end`
```

Only rank 0 draws noise, takes steps and decodes; followers know nothing but the transformer. Invariant: between `begin`
and `end` every rank makes the same forward passes in the same order. A pass that fails on rank 0 leaves the others
inside it, and the group is broken for good.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from worker.engine.context_parallel.lane_group import received, send
from worker.engine.context_parallel.spreading import num_divided_prompt_tokens
from worker.engine.errors import DeviceMemoryError, LaneSpreadError
from worker.engine.models.experts import experts_of


@dataclass(frozen=True, slots=True)
class _SentTensor:
    """What a follower must know of a tensor to receive it."""

    shape: torch.Size
    dtype: torch.dtype
    is_on_host: bool


@dataclass(frozen=True, slots=True)
class _Call:
    """One forward pass: the expert's prefix, and its keyword arguments, tensors by what they are like."""

    expert: str
    inputs: Mapping[str, Any]


class SpreadCalls:
    """Sends the forward passes of rank 0's transformer to its followers. The transformer is spread already."""

    def __init__(self, transformer: torch.nn.Module, size: int) -> None:
        self._size = size
        self._is_open = False
        self.is_broken = False
        """Whether a pass has failed, so that followers can be told nothing more."""
        for name, expert in experts_of(transformer).items():
            # What diffusers has put around it divides and joins the tokens.
            expert.forward = partial(self._forward, name, expert.forward)

    def begin(self) -> None:
        """Called when the followers follow, or are about to."""
        self._is_open = True

    def end(self) -> None:
        """Let the followers return."""
        self._is_open = False
        self.is_broken = True
        send(None)
        self.is_broken = False

    def _forward(self, name: str, own: Callable[..., Any], **inputs: Any) -> Any:
        assert self._is_open, "a spread transformer predicts between `begin` and `end` only"
        self._check_prompt(inputs)
        self.is_broken = True
        try:
            _send_call(name, inputs)
            output = own(**inputs)
        except torch.OutOfMemoryError as error:
            # Raised as another class: in smaller calls the ranks would not be in step.
            raise DeviceMemoryError(
                f"the first of {self._size} GPUs of a lane ran out of memory in a prediction that is spread over them: "
                f"lower `batch.fragment_size` or the size of the samples, or take more GPUs a lane. {error}"
            ) from error
        self.is_broken = False
        return output

    def _check_prompt(self, inputs: Mapping[str, Any]) -> None:
        num_tokens = num_divided_prompt_tokens(inputs)
        if num_tokens is not None and num_tokens < self._size:
            raise LaneSpreadError(
                f"every prompt, the negative one too, must have at least {self._size} tokens on a lane of {self._size} "
                f"GPUs, got {num_tokens}: set `performance.context_parallel` to off, or write longer prompts"
            )


def follow_calls(transformer: torch.nn.Module, device: torch.device) -> int:
    """Make this rank's part of the passes that rank 0 sends, until it ends; returns how many there were."""
    experts, num_calls = experts_of(transformer), 0
    while (call := received()) is not None:
        inputs = {name: _received_tensor(value, device) for name, value in call.inputs.items()}
        with torch.inference_mode():
            experts[call.expert](**inputs)
        num_calls += 1
    return num_calls


def _send_call(expert: str, inputs: Mapping[str, Any]) -> None:
    tensors = {name: value.contiguous() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    like = {name: _SentTensor(each.shape, each.dtype, each.device.type == "cpu") for name, each in tensors.items()}
    send(_Call(expert, {**inputs, **like}))
    for name in inputs:
        if name in tensors:
            torch.distributed.broadcast(tensors[name], src=0)


def _received_tensor(value: Any, device: torch.device) -> Any:
    if not isinstance(value, _SentTensor):
        return value
    tensor = torch.empty(value.shape, dtype=value.dtype, device="cpu" if value.is_on_host else device)
    torch.distributed.broadcast(tensor, src=0)
    return tensor
