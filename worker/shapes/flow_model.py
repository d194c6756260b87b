"""The image model of the shapes checkpoint: a FLUX transformer of about 1.8M parameters and its flow matching.

Convention as everywhere in Tandem: sigma 1 is noise, x = (1 - sigma) x0 + sigma eps, and the model predicts
v = eps - x0 (rectified flow, arXiv 2209.03003).
"""

import copy
from collections.abc import Callable

import torch
from diffusers import FluxPipeline, FluxTransformer2DModel

from worker.shapes.text import EMBEDDING_DIM

BATCH_SIZE = 64
LEARNING_RATE = 2e-3
EMA_DECAY = 0.998


def build_transformer(num_latent_channels: int) -> FluxTransformer2DModel:
    """An untrained FLUX transformer: 2 double and 2 single blocks, 4 heads of 32, no guidance embedding."""
    return FluxTransformer2DModel(
        patch_size=1,
        in_channels=4 * num_latent_channels,
        num_layers=2,
        num_single_layers=2,
        attention_head_dim=32,
        num_attention_heads=4,
        joint_attention_dim=EMBEDDING_DIM,
        pooled_projection_dim=EMBEDDING_DIM,
        guidance_embeds=False,
        axes_dims_rope=(8, 12, 12),
    )


def pack(latents: torch.Tensor) -> torch.Tensor:
    """Latents (N, C, H, W) as FLUX tokens (N, H/2 * W/2, 4 C)."""
    num, channels, height, width = latents.shape
    return FluxPipeline._pack_latents(latents, num, channels, height, width)


def train_transformer(
    transformer: FluxTransformer2DModel,
    tokens: torch.Tensor,
    draw_captions: Callable[[torch.Tensor, float], torch.Tensor],
    text: tuple[torch.Tensor, torch.Tensor],
    num_steps: int,
    on_step: Callable[[float], None],
) -> FluxTransformer2DModel:
    """Flow matching on cached latents; returns the averaged (EMA) copy of the weights.

    Args:
        transformer: trained in place.
        tokens: packed clean latents, (N, num_tokens, channels).
        draw_captions: from rows of `tokens` (M,) and the share of training done, the captions they are told to have,
            indices into `text` (M,).
        text: prompt embeddings (18, length, dim) and pooled embeddings (18, dim).
        num_steps: optimizer steps.
        on_step: receives the loss of each step.
    """
    average = copy.deepcopy(transformer).eval().requires_grad_(False)
    optimizer = torch.optim.AdamW(transformer.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, num_steps, pct_start=0.1)
    side = int(tokens.shape[1] ** 0.5)
    image_ids = FluxPipeline._prepare_latent_image_ids(1, side, side, torch.device("cpu"), torch.float32)
    text_ids = torch.zeros(text[0].shape[1], 3)
    transformer.train()
    for step in range(num_steps):
        rows = torch.randint(len(tokens), (BATCH_SIZE,))
        clean, captions = tokens[rows], draw_captions(rows, step / num_steps)
        noise, sigma = torch.randn_like(clean), torch.rand(BATCH_SIZE)
        mixed = torch.lerp(clean, noise, sigma.view(-1, 1, 1))
        velocity = transformer(
            hidden_states=mixed,
            encoder_hidden_states=text[0][captions],
            pooled_projections=text[1][captions],
            timestep=sigma,
            img_ids=image_ids,
            txt_ids=text_ids,
            return_dict=False,
        )[0]
        loss = torch.nn.functional.mse_loss(velocity, noise - clean)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(transformer.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        _update_average(average, transformer)
        on_step(float(loss.detach()))
    return average


@torch.no_grad()
def _update_average(average: torch.nn.Module, current: torch.nn.Module) -> None:
    for kept, new in zip(average.parameters(), current.parameters(), strict=True):
        kept.lerp_(new, 1 - EMA_DECAY)
