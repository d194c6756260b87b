"""Build the demo base model: `make demo-model`, or `python -m worker.shapes.build`.

Three trainings in a row, all seeded: autoencoder, flow model on its latents under noisy captions, judge. The noise
in the captions is the point: the base paints well but follows its prompt in about a quarter of the pictures, so
reinforcement learning has something visible and honest to mend. Overwrites the checkpoint folder and leaves a
PNG sheet of samples in it.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL, FluxTransformer2DModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from worker.shapes import autoencoder, checkpoint, flow_model
from worker.shapes.captions import COLOURS, SHAPES, all_captions, noisy_caption_indices
from worker.shapes.drawing import random_drawing
from worker.shapes.folder import DEFAULT_FOLDER
from worker.shapes.grid import save_contact_sheet

CAPTION_RELIABILITY = 0.35
"""Chosen so that both words are right in at most a quarter of the base model's pictures."""

NUM_PICTURES = 16384
NUM_AUTOENCODER_STEPS = 2500
NUM_TRANSFORMER_STEPS = 6000
NUM_SHEET_COLUMNS = 12


@contextmanager
def progress_bar(title: str, total: int, unit: str) -> Iterator[Callable[[float], None]]:
    """A terminal progress bar; the yielded function advances it by one and shows the value it is given."""
    columns = (
        TextColumn("{task.description:<14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[value]}"),
    )
    with Progress(*columns, console=Console()) as progress:
        task = progress.add_task(title, total=total, value="")
        smooth: float | None = None

        def advance(value: float) -> None:
            nonlocal smooth
            smooth = value if smooth is None else 0.98 * smooth + 0.02 * value
            progress.update(task, advance=1, value=f"{smooth:.3f} {unit}")

        yield advance


def build_vae(rng: np.random.Generator, num_steps: int) -> AutoencoderKL:
    """Train the autoencoder with a progress bar."""
    vae = autoencoder.build_autoencoder()
    with progress_bar("autoencoder", num_steps, "dB") as advance:
        autoencoder.train_autoencoder(vae, num_steps, rng, advance)
    return vae


def build_flow(
    vae: AutoencoderKL, text: tuple[torch.Tensor, torch.Tensor], rng: np.random.Generator, num_steps: int
) -> FluxTransformer2DModel:
    """Train the transformer on latents of random drawings, telling it noisy captions drawn anew each time."""
    pictures, captions = zip(*(random_drawing(rng) for _ in range(NUM_PICTURES)), strict=True)
    colours = np.array([COLOURS.index(caption.colour) for caption in captions])
    shapes = np.array([SHAPES.index(caption.shape) for caption in captions])
    latents = autoencoder.set_normalisation(vae, autoencoder.encode_pictures(vae, np.stack(pictures)))

    def draw_captions(rows: torch.Tensor) -> torch.Tensor:
        kept = rows.numpy()
        return torch.from_numpy(noisy_caption_indices(colours[kept], shapes[kept], CAPTION_RELIABILITY, rng))

    transformer = flow_model.build_transformer(vae.config.latent_channels)
    with progress_bar("transformer", num_steps, "loss") as advance:
        return flow_model.train_transformer(
            transformer, flow_model.pack(latents), draw_captions, text, num_steps, advance
        )


def build(folder: Path, seed: int, num_autoencoder_steps: int, num_transformer_steps: int) -> None:
    """Train all parts and save the checkpoint and its sample sheet in `folder`."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vae = build_vae(rng, num_autoencoder_steps)
    pipeline = checkpoint.assemble(vae, flow_model.build_transformer(vae.config.latent_channels))
    text = checkpoint.encode_prompts(pipeline, [caption.text for caption in all_captions()])
    pipeline.register_modules(transformer=build_flow(vae, text, rng, num_transformer_steps))
    pipeline.save_pretrained(folder, safe_serialization=True)
    samples = checkpoint.sample_every_caption(
        checkpoint.load_pipeline(folder), NUM_SHEET_COLUMNS, num_denoising_steps=8, seed=seed
    )
    save_contact_sheet(folder / "samples.png", samples, NUM_SHEET_COLUMNS)


def main() -> None:
    """Command line: see the module docstring."""
    parser = argparse.ArgumentParser(description="Train the shapes base model on drawn pictures.")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--autoencoder-steps", type=int, default=NUM_AUTOENCODER_STEPS)
    parser.add_argument("--transformer-steps", type=int, default=NUM_TRANSFORMER_STEPS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    build(arguments.folder, arguments.seed, arguments.autoencoder_steps, arguments.transformer_steps)


if __name__ == "__main__":
    main()
