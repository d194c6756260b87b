"""A LoRA in diffusers format, written as ComfyUI's loader reads it. Needs no torch: names change, tensors do not.

ComfyUI adds `strength · alpha / rank · B·A` to a weight, with `alpha` from the tensor `<layer>.alpha`; without one it
takes `alpha = rank`, and it does not read the settings that diffusers keeps in the file's header (`load_lora` and
`LoRAAdapter` in ComfyUI's `comfy/lora.py` and `comfy/weight_adapter/lora.py`). So a LoRA whose alpha is not its rank
would act with another strength: each layer is given its alpha.

Names are those of `tandem.comfyui_names`.
"""

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tandem.comfyui_names import FAMILIES, comfyui_name
from tandem.errors import TandemError

LORA_FILE = "pytorch_lora_weights.safetensors"
EXPERTS = {"transformer": "high_noise", "transformer_2": "low_noise"}
"""What ComfyUI's templates call the two models of Wan2.2 A14B: it loads each by itself, and so their LoRAs."""
_FACTOR = re.compile(r"\.lora_[AB]\.weight$")


def write_for_comfyui(lora: Path, target: Path, family: str) -> list[Path]:
    """Write the LoRA file `lora` of a model family as `target`; one file for each expert where there are two.

    Raises:
        TandemError: ComfyUI has no names for a layer of it, or the file lacks its alpha.
    """
    if family not in FAMILIES:
        raise TandemError(
            f"a LoRA of {family} cannot be written for ComfyUI, which joins layers there that this LoRA has apart; "
            f"possible are {', '.join(sorted(FAMILIES))}"
        )
    tensors, settings = _read(lora)
    components = sorted({name.partition(".")[0] for name in tensors})
    written = []
    for component in components:
        path = target if len(components) == 1 else target.with_stem(f"{target.stem}-{EXPERTS[component]}")
        prefix = f"{component}."
        own = {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}
        alpha = settings.get(f"{prefix}lora_alpha")
        if alpha is None:
            raise TandemError(f"{lora.name} does not say the alpha of its {component}: download it anew")
        _write(path, _with_alpha({_name(tensor, family): own[tensor] for tensor in own}, float(alpha)))
        written.append(path)
    return written


def _name(tensor: str, family: str) -> str:
    """The name under which ComfyUI reads a tensor of diffusers' file."""
    factor = _FACTOR.search(tensor)
    layer = tensor[: factor.start()] if factor else tensor
    if factor is None or (name := comfyui_name(layer, family)) is None:
        raise TandemError(
            f"ComfyUI's loader has no name for the layer {layer} of {family}, and would leave it out: train without it "
            "(`lora.targets`), or use the LoRA with diffusers"
        )
    return name + factor[0]


Tensors = dict[str, tuple[dict[str, Any], bytes]]
"""Kind (dtype and shape) and bytes by name."""


def _with_alpha(tensors: Tensors, alpha: float) -> Tensors:
    scalar = ({"dtype": "F32", "shape": []}, struct.pack("<f", alpha))
    return tensors | {f"{_FACTOR.sub('', name)}.alpha": scalar for name in tensors if _FACTOR.search(name)}


def _read(path: Path) -> tuple[Tensors, Mapping[str, Any]]:
    """The tensors of a safetensors file and the LoRA's settings: 8 bytes of length, a JSON header, the bytes."""
    content = path.read_bytes()
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:begin])
    settings = json.loads(header.pop("__metadata__", {}).get("lora_adapter_metadata", "{}"))
    return {
        name: (
            {"dtype": kind["dtype"], "shape": kind["shape"]},
            content[begin + kind["data_offsets"][0] : begin + kind["data_offsets"][1]],
        )
        for name, kind in header.items()
    }, settings


def _write(path: Path, tensors: Tensors) -> None:
    header: dict[str, Any] = {}
    end = 0
    for name, (kind, content) in tensors.items():
        header[name] = {**kind, "data_offsets": [end, end + len(content)]}
        end += len(content)
    written = json.dumps(header).encode()
    # The format asks for tensors that begin at a multiple of 8.
    written += b" " * (-len(written) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(struct.pack("<Q", len(written)) + written)
        file.writelines(content for _, content in tensors.values())
    part.replace(path)
