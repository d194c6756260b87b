"""LoRA layers on a frozen transformer, with their tensors under the names that peft gives them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft import LoraConfig

from worker.contracts.sections import LoraSpec
from worker.engine.errors import ModelLoadError, listing
from worker.engine.models.compute_copies import compute_in_input_dtype
from worker.engine.models.experts import experts_of
from worker.engine.models.precision import at_least_fp32

ADAPTER_NAME = "default"
"""The name of the only adapter; peft's own default."""


def add_lora(transformer: torch.nn.Module, spec: LoraSpec, default_targets: Iterable[str], *, seed: int) -> None:
    """Freeze `transformer` and add LoRA layers in fp32: A is Gaussian from `seed`, B is 0.

    Args:
        transformer: a transformer, or `Experts`.
        spec: rank, alpha and targets.
        default_targets: used where the spec names no targets, in the transformer's blocks alone: FLUX's `proj_out` is a
            layer of its blocks and the name of its output layer.
        seed: of A.

    Raises:
        ModelLoadError: when a target matches no linear layer; the message lists the layers that exist.
    """
    experts = list(experts_of(transformer).values())
    if spec.targets:
        matched = [_matched_targets(expert, spec.targets, _is_linear) for expert in experts]
    else:
        matched = [_matched_targets(expert, default_targets, _is_linear_of_block) for expert in experts]
    transformer.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for expert, modules in zip(experts, matched, strict=True):
            config = LoraConfig(
                r=spec.rank, lora_alpha=spec.alpha, target_modules=modules, init_lora_weights="gaussian"
            )
            expert.add_adapter(config, adapter_name=ADAPTER_NAME)
            compute_in_input_dtype(expert)
    for parameter in lora_parameters(transformer).values():
        parameter.data = at_least_fp32(parameter.data)
        parameter.requires_grad_(True)


def lora_parameters(transformer: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The live LoRA parameters by peft name (`…to_q.lora_A.weight`), in name order."""
    suffix = f".{ADAPTER_NAME}.weight"
    found = {
        name.removesuffix(suffix) + ".weight": parameter
        for name, parameter in transformer.named_parameters()
        if ".lora_" in name and name.endswith(suffix)
    }
    return dict(sorted(found.items()))


def lora_metadata(transformer: torch.nn.Module) -> dict[str, Any]:
    """The LoRA's settings (rank, alpha, targets) as plain values, which diffusers stores in the file and reads back."""
    config: dict[str, Any] = transformer.peft_config[ADAPTER_NAME].to_dict()
    return {
        key: sorted(value) if isinstance(value, set) else value
        for key, value in config.items()
        if value is None or isinstance(value, bool | int | float | str | list | dict | set)
    }


@contextmanager
def lora_disabled(transformer: torch.nn.Module) -> Iterator[None]:
    """Inside the context, the transformer predicts without its LoRA layers, i.e. as the base."""
    experts = experts_of(transformer).values()
    for expert in experts:
        expert.disable_adapters()
    try:
        yield
    finally:
        for expert in experts:
            expert.enable_adapters()


def _is_linear(name: str, module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.Linear)


def _is_linear_of_block(name: str, module: torch.nn.Module) -> bool:
    return _is_linear(name, module) and any(part.isdigit() for part in name.split("."))


def _matched_targets(
    transformer: torch.nn.Module, targets: Iterable[str], is_wanted: Callable[[str, torch.nn.Module], bool]
) -> list[str]:
    """The targets in a form that peft accepts.

    A target that also matches a module which is not wanted is replaced by the names of those that are. peft refuses a
    module that is not linear: FLUX.2's `attn.to_out` is a layer in some blocks and a list of layers in others.

    Raises:
        ModelLoadError: for a target that matches no wanted layer, listing the layers that exist.
    """
    modules = dict(transformer.named_modules())
    wanted = [name for name, module in modules.items() if is_wanted(name, module)]
    matched: list[str] = []
    for target in targets:
        fitting = [name for name in modules if name == target or name.endswith(f".{target}")]
        layers = [name for name in fitting if is_wanted(name, modules[name])]
        if not layers:
            existing = {_without_indices(name) for name in wanted}
            raise ModelLoadError(
                f"`lora.targets` must name linear layers of the model, got {target!r}, which matches none: "
                f"choose among {listing(existing)}"
            )
        matched += [target] if len(layers) == len(fitting) else layers
    return matched


def _without_indices(name: str) -> str:
    """`transformer_blocks.3.attn.to_out.0` as `attn.to_out.0`, which is how a spec names it."""
    parts = name.split(".")
    first = next((index + 1 for index, part in enumerate(parts) if part.isdigit() and index < 2), 0)
    return ".".join(parts[first:])
