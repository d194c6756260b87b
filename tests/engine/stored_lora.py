"""A LoRA in diffusers format, read back without diffusers."""

import json
from pathlib import Path

from safetensors import safe_open

from worker.contracts.sections import LoraSpec
from worker.engine.sync.packing import pack
from worker.engine.trainer.export import COMPONENT
from worker.engine.types import PublishedShard

LORA_FILE = "pytorch_lora_weights.safetensors"
"""The file name that diffusers' `load_lora_weights` looks for."""
METADATA_KEY = "lora_adapter_metadata"
"""The key under which diffusers stores LoRA settings in a safetensors header."""


def read_lora(folder: Path, spec: LoraSpec) -> PublishedShard:
    """The LoRA in `folder` as policy version 0. Rank and alpha, which scale its weights, must be the spec's."""
    with safe_open(folder / LORA_FILE, framework="pt") as content:
        stored = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        metadata = json.loads(content.metadata()[METADATA_KEY])
    settings = {name.removeprefix(f"{COMPONENT}."): value for name, value in metadata.items()}
    assert (settings["r"], settings["lora_alpha"]) == (spec.rank, spec.alpha)
    if not all(name.startswith(f"{COMPONENT}.") for name in stored):
        # With several experts the names have the component as a prefix in memory too.
        return pack(stored, 0)
    return pack({name.removeprefix(f"{COMPONENT}."): tensor for name, tensor in stored.items()}, 0)
