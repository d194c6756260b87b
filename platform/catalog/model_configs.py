"""Checks a spec against the configs in its base model's folder, before the run asks for lanes.

The configs of a hub model are not on this machine; lanes make the same checks on them before they read weights.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog.base_models import FAMILY_OF_PIPELINE
from worker.contracts.context_parallel import DividedShape
from worker.contracts.families import FAMILY_TRAITS, size_multiple, size_problem
from worker.contracts.names import ModelFamily
from worker.contracts.run_spec import RunSpec

WAN_FAMILIES = frozenset({ModelFamily.WAN, ModelFamily.WAN22})
"""The two families that share a pipeline class."""


def model_problems(spec: RunSpec, resolved_path: str) -> dict[str, str]:
    """Sentences for the user by the dotted path of the field at fault.

    Args:
        spec: the run's.
        resolved_path: what `resolve_base_model` made of its `base_model.path`.
    """
    folder = Path(resolved_path)
    index = _config(folder / "model_index.json")
    if index is None:
        return {}
    family = FAMILY_OF_PIPELINE[str(index["_class_name"])]
    if family is not spec.base_model.family and not {family, spec.base_model.family} <= WAN_FAMILIES:
        return {
            "base_model.family": f"`base_model.family` must be {family} for `{spec.base_model.path}`, got "
            f"{spec.base_model.family}: the checkpoint names {index['_class_name']}"
        }
    transformer, vae = (_config(folder / part / "config.json") for part in ("transformer", "vae"))
    if transformer is None or vae is None:
        return {}
    multiple = size_multiple(family, transformer=transformer, vae=vae)
    problems = {
        f"sampling.{name}": size_problem(name, getattr(spec.sampling, name), multiple) for name in ("height", "width")
    }
    return {path: problem for path, problem in problems.items() if problem is not None}


def divided_shape(spec: RunSpec, resolved_path: str) -> DividedShape | None:
    """What of a prediction is divided over the GPUs of a lane, by the configs; `None` where they are not here."""
    folder, sampling = Path(resolved_path), spec.sampling
    transformer, vae = (_config(folder / part / "config.json") for part in ("transformer", "vae"))
    if transformer is None or vae is None or not isinstance(heads := transformer.get("num_attention_heads"), int):
        return None
    side = size_multiple(spec.base_model.family, transformer=transformer, vae=vae)
    frames_per_latent = FAMILY_TRAITS[spec.base_model.family].frames_per_latent or 1
    num_latent_frames = (sampling.num_frames - 1) // frames_per_latent + 1
    return DividedShape(
        num_heads=heads,
        num_tokens=(sampling.height // side) * (sampling.width // side) * num_latent_frames,
        height=sampling.height,
        width=sampling.width,
        num_frames=sampling.num_frames,
    )


def _config(file: Path) -> Mapping[str, Any] | None:
    """The content of a config; `None` if it cannot be read, which the lanes report."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
