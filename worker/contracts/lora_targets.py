"""LoRA targets against the linear layers of a family's transformer, before any weights are read.

`worker.fixtures.tiny_models.linear_layers` writes the list from diffusers' classes. Invariant, held by a test: it has
every layer of every tiny model, and nothing that diffusers has not.
"""

import json
import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from worker.contracts.names import ModelFamily

LINEAR_LAYERS_FILE = Path(__file__).with_name("linear_layers.json")
_BLOCK = re.compile(r"^((?:[a-z]\w*\.)*?)\d+\.")
MAX_NAMED = 8
"""Layers that a refusal names."""


def without_block(name: str) -> str:
    """`transformer_blocks.3.attn.to_out.0` as `transformer_blocks.*.attn.to_out.0`:
    only the first index counts blocks."""
    return _BLOCK.sub(r"\1*.", name, count=1) if name.count(".") > 1 else name


@cache
def linear_layers_of(family: ModelFamily) -> tuple[str, ...]:
    """The names of all linear layers, `*` in place of a block's index."""
    layers: dict[str, list[str]] = json.loads(LINEAR_LAYERS_FILE.read_text())
    return tuple(layers[family.value])


def lora_target_problem(family: ModelFamily, targets: tuple[str, ...]) -> str | None:
    """Why a LoRA cannot be put on `targets`, as a sentence for the user; `None` if each names some layer."""
    layers = linear_layers_of(family)
    for target in targets:
        if not any(_names(target, layer) for layer in layers):
            ends = sorted({layer.rpartition("*.")[2] for layer in layers})
            near = get_close_matches(target, ends, n=MAX_NAMED, cutoff=0.4) or ends[:MAX_NAMED]
            return (
                f"`lora.targets` must name linear layers of {family}, got {target[:60]!r}, which matches nothing: "
                f"use names such as {', '.join(near)}"
            )
    return None


def _names(target: str, layer: str) -> bool:
    """Whether `target` is the layer's name or the end of it, from a dot on."""
    wanted, parts = target.split("."), layer.split(".")
    if len(wanted) > len(parts):
        return False
    ending = parts[-len(wanted) :]
    return all(asked.isdecimal() if part == "*" else asked == part for asked, part in zip(wanted, ending, strict=True))
