"""What other trainers' names of models and precisions are here."""

from collections.abc import Mapping

from catalog.imports.imported import Import
from worker.contracts.names import ModelFamily

FAMILIES: Mapping[str, ModelFamily] = {
    "stable-diffusion-3": ModelFamily.SD3,
    "flux.1": ModelFamily.FLUX,
    "flux.2-klein": ModelFamily.FLUX2_KLEIN,
    "flux.2": ModelFamily.FLUX2,
    "qwen-image": ModelFamily.QWEN_IMAGE,
    "z-image": ModelFamily.Z_IMAGE,
    "wan2.1": ModelFamily.WAN,
    "wan2.2": ModelFamily.WAN22,
    "hunyuanvideo": ModelFamily.HUNYUAN_VIDEO,
}
"""By a part of the model's name; the first one that fits."""
DTYPES = {"bf16": "bf16", "fp16": "fp16", "no": "fp32"}


def carry_model(found: Import, name: str, path: str) -> ModelFamily | None:
    """Carry the model `path` that the setting `name` names, and its family, which is returned if it is known."""
    family = next((family for part, family in FAMILIES.items() if part in path.lower()), None)
    if path:
        found.carry("base_model.path", path, name)
    if family is None:
        found.leave(name, "no model family is known by this name: choose `base_model.family`")
    else:
        found.carry("base_model.family", family.value, name)
    return family


def carry_dtype(found: Import, name: str) -> None:
    """Carry the precision that the setting `name` names."""
    if (dtype := DTYPES.get(found.text(name) or "")) is not None:
        found.carry("base_model.dtype", dtype, name)
    else:
        found.leave(name, f"a dtype must be one of {', '.join(DTYPES)} there")
