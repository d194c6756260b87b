"""LoRA layers on a frozen transformer, and their tensors by peft's own names."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft import LoraConfig

from worker.contracts.sections import LoraSpec
from worker.engine.errors import ModelLoadError, listing
from worker.engine.models.experts import experts_of
from worker.engine.models.precision import at_least_fp32

ADAPTER_NAME = "default"


def add_lora(transformer: torch.nn.Module, spec: LoraSpec, default_targets: Iterable[str], *, seed: int) -> None:
    """Freeze `transformer` and add LoRA layers in fp32: A is Gaussian from `seed`, B is 0.

    Raises:
        ModelLoadError: when a target matches no linear layer; the message lists what could be matched.
    """
    targets = tuple(spec.targets or default_targets)
    experts = list(experts_of(transformer).values())
    matched = [_matched_targets(expert, targets) for expert in experts]
    transformer.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for expert, modules in zip(experts, matched, strict=True):
            config = LoraConfig(
                r=spec.rank, lora_alpha=spec.alpha, target_modules=modules, init_lora_weights="gaussian"
            )
            expert.add_adapter(config, adapter_name=ADAPTER_NAME)
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
    """A LoRA config as plain values, which diffusers stores in the file and reads back (rank, alpha, targets)."""
    config: dict[str, Any] = transformer.peft_config[ADAPTER_NAME].to_dict()
    return {
        key: sorted(value) if isinstance(value, set) else value
        for key, value in config.items()
        if value is None or isinstance(value, bool | int | float | str | list | dict | set)
    }


@contextmanager
def lora_disabled(transformer: torch.nn.Module) -> Iterator[None]:
    """Inside, the transformer is the reference policy: the base without its LoRA."""
    experts = experts_of(transformer).values()
    for expert in experts:
        expert.disable_adapters()
    try:
        yield
    finally:
        for expert in experts:
            expert.enable_adapters()


def _matched_targets(transformer: torch.nn.Module, targets: Iterable[str]) -> list[str]:
    """The targets as peft is to have them.

    An ending that also fits a module which is not linear (FLUX.2's `attn.to_out` is a layer here and a list of layers
    there) is written out as the linear layers meant: peft would refuse the other.

    Raises:
        ModelLoadError: for a target that matches no linear layer, listing what could be matched.
    """
    modules = dict(transformer.named_modules())
    linear = [name for name, module in modules.items() if isinstance(module, torch.nn.Linear)]
    matched: list[str] = []
    for target in targets:
        fitting = [name for name in modules if name == target or name.endswith(f".{target}")]
        layers = [name for name in fitting if isinstance(modules[name], torch.nn.Linear)]
        if not layers:
            existing = {_without_indices(name) for name in linear}
            raise ModelLoadError(
                f"`lora.targets` must name linear layers of the model, got {target!r}, which matches none: "
                f"choose among {listing(existing)}"
            )
        matched += [target] if len(layers) == len(fitting) else layers
    return matched


def _without_indices(name: str) -> str:
    """`transformer_blocks.3.attn.to_out.0` as `attn.to_out.0`: what a user would write."""
    parts = name.split(".")
    first = next((place + 1 for place, part in enumerate(parts) if part.isdigit() and place < 2), 0)
    return ".".join(parts[first:])
