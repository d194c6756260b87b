"""The shapes of samples: the sizes and numbers of frames that a model can draw, and its decoded output as pixels."""

from typing import Any

import torch

from worker.contracts.families import size_problem
from worker.engine.errors import ModelLoadError


def check_size(height: int, width: int, multiple: int) -> None:
    """Raise `ModelLoadError` for a size in pixels that is no multiple of `multiple`, a patch of the transformer."""
    for name, value in (("height", height), ("width", width)):
        if problem := size_problem(name, value, multiple):
            raise ModelLoadError(problem)


def in_unit_range(decoded: torch.Tensor) -> torch.Tensor:
    """An autoencoder's output in [-1, 1] as fp32 in [0, 1]."""
    return (decoded.float() / 2 + 0.5).clamp(0, 1)


def num_latent_frames(num_frames: int, frames_per_latent: int) -> int:
    """The number of latent frames of a clip: one for the first frame, and one for every `frames_per_latent` others.

    Raises:
        ModelLoadError: for a number of frames that does not divide; diffusers would round it and only log that.
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
    """The shape (channels, latent frames, rows, columns) of a clip's latents.

    Args:
        pipeline: whose autoencoder and transformer are meant.
        patch: rows and columns of latents in one patch of the transformer.
        height: pixels.
        width: pixels.
        num_frames: frames of the clip.

    Raises:
        ModelLoadError: for a size or number of frames that autoencoder and patches do not divide.
    """
    scale = pipeline.vae_scale_factor_spatial
    check_size(height, width, scale * patch)
    frames = num_latent_frames(num_frames, pipeline.vae_scale_factor_temporal)
    return int(pipeline.transformer.config.in_channels), frames, height // scale, width // scale


def as_frames(decoded: torch.Tensor) -> torch.Tensor:
    """An autoencoder's output (N, 3, F, H, W) in [-1, 1] as fp32 in [0, 1]: clips (N, F, 3, H, W), or pictures
    (N, 3, H, W) where F is 1."""
    clips = in_unit_range(decoded).transpose(1, 2)
    return clips[:, 0] if clips.shape[1] == 1 else clips
