"""The autoencoder of the shapes checkpoint: 32x32 pixels to 4x4 latents of 16 channels and back.

Trained first, then frozen: its latents, normalised by `scaling_factor` and `shift_factor`, are what the flow
model learns.
"""

from collections.abc import Callable

import numpy as np
import torch
from diffusers import AutoencoderKL

from worker.shapes.drawing import BACKGROUND_RGB, ByteArray, random_drawing

BATCH_SIZE = 32
LEARNING_RATE = 3e-3
KL_WEIGHT = 1e-5
FOREGROUND_WEIGHT = 4.0


def build_autoencoder() -> AutoencoderKL:
    """An untrained AutoencoderKL of about 0.3M parameters, 8x down, 16 latent channels."""
    return AutoencoderKL(
        in_channels=3,
        out_channels=3,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8, 16, 32, 48),
        layers_per_block=1,
        latent_channels=16,
        norm_num_groups=8,
        sample_size=32,
        use_quant_conv=False,
        use_post_quant_conv=False,
        mid_block_add_attention=False,
    ).to(memory_format=torch.channels_last)


def to_tensor(pictures: ByteArray) -> torch.Tensor:
    """uint8 pictures (N, H, W, 3) as float32 in [-1, 1] of (N, 3, H, W)."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)


def train_autoencoder(
    vae: AutoencoderKL, num_steps: int, rng: np.random.Generator, on_step: Callable[[float], None]
) -> None:
    """Train `vae` in place on random drawings; `on_step` receives the reconstruction PSNR in dB.

    The error of pixels that differ from the ground weighs more: most of a picture is ground.
    """
    optimizer = torch.optim.AdamW(vae.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, num_steps, pct_start=0.1)
    ground = torch.tensor(BACKGROUND_RGB).view(1, 3, 1, 1).div(127.5).sub(1.0)
    vae.train()
    for _ in range(num_steps):
        pictures = to_tensor(np.stack([random_drawing(rng)[0] for _ in range(BATCH_SIZE)]))
        pictures = pictures.to(memory_format=torch.channels_last)
        posterior = vae.encode(pictures).latent_dist
        restored = vae.decode(posterior.sample()).sample
        weight = 1.0 + FOREGROUND_WEIGHT * ((pictures - ground).abs().amax(1, keepdim=True) > 0.1)
        error = restored - pictures
        loss = (weight * (error.abs() + error.square())).mean() + KL_WEIGHT * posterior.kl().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(vae.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        on_step(float(10 * torch.log10(4.0 / error.detach().square().mean())))
    vae.eval().requires_grad_(False)


@torch.no_grad()
def encode_pictures(vae: AutoencoderKL, pictures: ByteArray, chunk_size: int = 256) -> torch.Tensor:
    """Latent means of `pictures`, float32 of (N, 16, 4, 4), not yet normalised."""
    means = [
        vae.encode(to_tensor(pictures[start : start + chunk_size])).latent_dist.mode()
        for start in range(0, len(pictures), chunk_size)
    ]
    return torch.cat(means)


def set_normalisation(vae: AutoencoderKL, latents: torch.Tensor) -> torch.Tensor:
    """Write the mean and spread of `latents` into the config of `vae`; returns the normalised latents."""
    shift, scale = float(latents.mean()), float(1.0 / latents.std())
    vae.register_to_config(shift_factor=shift, scaling_factor=scale)
    return (latents - shift) * scale
