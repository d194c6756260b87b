"""Traces of whole passes of a published transformer with a LoRA: as it was computed before, and as it is."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from peft.tuners.lora import LoraLayer
from torch._subclasses import FakeTensorMode

from tests.bench.roofline.traced_kernels import CardOperations, Kernel, KernelTrace
from tests.scheduling.profiles.published_models import Published
from worker.contracts.sections import LoraSpec
from worker.engine.models.lora import add_lora
from worker.engine.models.registry import MODEL_ADAPTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedPass:
    """One pass of `batch` pictures of `side` × `side` pixels, through every block."""

    side: int
    batch: int
    trains: bool
    """Forward and backward instead of forward alone."""
    under_autocast: bool
    """Under bf16 autocast, and through fp32 adapters as peft makes them: what Tandem did before it cast their weights
    (`worker.engine.models.compute_copies`)."""


def traced(published: Published, wanted: TracedPass, *, rank: int) -> list[Kernel]:
    """The kernels of the pass. The model's inputs must be those of FLUX.1."""
    with torch.device("meta"):
        model = published.kind(**published.config).to(torch.bfloat16)
        targets = MODEL_ADAPTERS[published.family].default_lora_targets
        add_lora(model, LoraSpec(rank=rank, alpha=2.0 * rank), targets, seed=0)
    if wanted.under_autocast:
        _compute_as_peft(model)
    with FakeTensorMode():
        _make_fake(model)
        inputs = _inputs(published, wanted)
        autocast: Any = torch.autocast("cpu", dtype=torch.bfloat16) if wanted.under_autocast else nullcontext()
        with KernelTrace() as trace, CardOperations(), autocast, torch.set_grad_enabled(wanted.trains):
            (predicted,) = model(**inputs, return_dict=False)
            if wanted.trains:
                predicted.backward(torch.empty_like(predicted))
    return trace.kernels


def _compute_as_peft(model: torch.nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, LoraLayer):
            module.cast_input_dtype_enabled = True
            for matrices in (module.lora_A, module.lora_B):
                for name, linear in matrices.items():
                    with torch.device("meta"):
                        plain = torch.nn.Linear(linear.in_features, linear.out_features, bias=False)
                    plain.weight = linear.weight
                    matrices[name] = plain


def _make_fake(model: torch.nn.Module) -> None:
    for module in model.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            empty = torch.empty(weight.shape, dtype=weight.dtype)
            module._parameters[name] = torch.nn.Parameter(empty, requires_grad=weight.requires_grad)
        for name, buffer in list(module.named_buffers(recurse=False)):
            module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype)


def _inputs(published: Published, wanted: TracedPass) -> dict[str, torch.Tensor]:
    """The published inputs, which are of one picture of 512², at another size and number."""
    num_tokens = published.profile.num_tokens(height=wanted.side, width=wanted.side, num_frames=1)
    shapes: dict[str, tuple[int, ...]] = {
        name: shape if name == "txt_ids" else (wanted.batch, *shape[1:]) for name, shape in published.inputs.items()
    }
    shapes["hidden_states"] = (wanted.batch, num_tokens, shapes["hidden_states"][-1])
    shapes["img_ids"] = (num_tokens, 3)
    return {name: torch.empty(shape, dtype=torch.bfloat16) for name, shape in shapes.items()}
