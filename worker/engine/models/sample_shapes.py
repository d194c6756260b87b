"""The shapes of samples: which sizes and lengths a model can draw, and what its autoencoder puts out as pixels."""

from typing import Any

import torch

from worker.contracts.families import size_problem
from worker.engine.errors import ModelLoadError


def check_size(height: int, width: int, multiple: int) -> None:
    """Raises `ModelLoadError` for a size that the autoencoder and the patches do not divide."""
    for name, value in (("height", height), ("width", width)):
        if problem := size_problem(name, value, multiple):
            raise ModelLoadError(problem)


def in_unit_range(decoded: torch.Tensor) -> torch.Tensor:
    """What an autoencoder puts out in [-1, 1], as fp32 in [0, 1]."""
    return (decoded.float() / 2 + 0.5).clamp(0, 1)


def num_latent_frames(num_frames: int, frames_per_latent: int) -> int:
    """Latent frames of a clip: the first frame has one of its own, each further one stands for `frames_per_latent`.

    Raises:
        ModelLoadError: for a length between two that can be made; diffusers would round it, and say so in a log only.
    """
    if num_frames % frames_per_latent != 1 % frames_per_latent:
        below = (num_frames - 1) // frames_per_latent * frames_per_latent + 1
        raise ModelLoadError(
            f"`sampling.num_frames` must be a multiple of {frames_per_latent} plus 1 for this model, got {num_frames}: "
            f"take {below} or {below + frames_per_latent}"
        )
    return (num_frames - 1) // frames_per_latent + 1


def clip_latent_shape(
    pipeline: Any, *, patch: int, height: int, width: int, num_frames: int
) -> tuple[int, int, int, int]:
    """(channels, latent frames, rows, columns) of the autoencoder's latents.

    Raises:
        ModelLoadError: for a size that the autoencoder and the transformer's patches do not divide.
    """
    scale = pipeline.vae_scale_factor_spatial
    check_size(height, width, scale * patch)
    frames = num_latent_frames(num_frames, pipeline.vae_scale_factor_temporal)
    return int(pipeline.transformer.config.in_channels), frames, height // scale, width // scale


def as_frames(decoded: torch.Tensor) -> torch.Tensor:
    """What an autoencoder put out, (N, 3, F, H, W) in [-1, 1], as fp32 in [0, 1] of (N, F, 3, H, W), or of
    (N, 3, H, W) where F is 1: that is a picture."""
    clips = in_unit_range(decoded).transpose(1, 2)
    return clips[:, 0] if clips.shape[1] == 1 else clips
