"""The tiny pipeline of each model family."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from worker.contracts.names import ModelFamily
from worker.tiny_models.clips import build_hunyuan_video, build_wan, build_wan22
from worker.tiny_models.pictures import (
    build_flux,
    build_flux2,
    build_flux2_klein,
    build_qwen_image,
    build_sd3,
    build_z_image,
)

TINY_PIPELINES: Mapping[ModelFamily, Callable[[], Any]] = {
    ModelFamily.SD3: build_sd3,
    ModelFamily.FLUX: build_flux,
    ModelFamily.FLUX2: build_flux2,
    ModelFamily.FLUX2_KLEIN: build_flux2_klein,
    ModelFamily.QWEN_IMAGE: build_qwen_image,
    ModelFamily.Z_IMAGE: build_z_image,
    ModelFamily.WAN: build_wan,
    ModelFamily.WAN22: build_wan22,
    ModelFamily.HUNYUAN_VIDEO: build_hunyuan_video,
}


def build_tiny_checkpoint(family: ModelFamily, folder: Path) -> Path:
    """Write the family's checkpoint into `folder`/<family>, the same weights every time; returns that path."""
    path = folder / family.value
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        TINY_PIPELINES[family]().save_pretrained(path, safe_serialization=True)
    return path
