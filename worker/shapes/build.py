"""Build the demo base model: `make demo-model`, or `python -m worker.shapes.build`.

Three trainings in a row, all seeded: autoencoder, flow model on its latents, judge. The flow model first learns to
paint with true captions, then goes on with mostly wrong ones. That noise is the point: the base has seen every shape
but follows its prompt in at most a quarter of the pictures, so reinforcement learning has something visible and
honest to mend. Overwrites checkpoint and judge, leaves a PNG sheet of samples and prints the judge's verdict.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL, FluxTransformer2DModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from worker.shapes import autoencoder, checkpoint, flow_model
from worker.shapes.captions import COLOURS, SHAPES, all_captions, noisy_caption_indices
from worker.shapes.drawing import ByteArray, random_drawing
from worker.shapes.grid import save_contact_sheet
from worker.shapes.judge import DEFAULT_WEIGHTS, Judge, train_judge

CLEAN_SHARE = 0.5
"""Share of the transformer's training with true captions; the rest has noisy ones."""
CAPTION_RELIABILITY = 0.43
"""Chosen so that both words are right in at most a quarter of the base model's pictures."""

NUM_PICTURES = 16384
NUM_AUTOENCODER_STEPS = 2500
NUM_TRANSFORMER_STEPS = 4000
NUM_JUDGE_STEPS = 2500
NUM_SHEET_COLUMNS = 12
NUM_DENOISING_STEPS = 6


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
    """Train the transformer on latents of random drawings; noisy captions are drawn anew at every step."""
    pictures, captions = zip(*(random_drawing(rng) for _ in range(NUM_PICTURES)), strict=True)
    colours = np.array([COLOURS.index(caption.colour) for caption in captions])
    shapes = np.array([SHAPES.index(caption.shape) for caption in captions])
    latents = autoencoder.set_normalisation(vae, autoencoder.encode_pictures(vae, np.stack(pictures)))

    def draw_captions(rows: torch.Tensor, done: float) -> torch.Tensor:
        reliability = 1.0 if done < CLEAN_SHARE else CAPTION_RELIABILITY
        kept = rows.numpy()
        return torch.from_numpy(noisy_caption_indices(colours[kept], shapes[kept], reliability, rng))

    transformer = flow_model.build_transformer(vae.config.latent_channels)
    with progress_bar("transformer", num_steps, "loss") as advance:
        return flow_model.train_transformer(
            transformer, flow_model.pack(latents), draw_captions, text, num_steps, advance
        )


def build_judge(rng: np.random.Generator, num_steps: int) -> Judge:
    """Train the judge with a progress bar."""
    with progress_bar("judge", num_steps, "loss") as advance:
        return train_judge(num_steps, rng, advance)


@dataclass(frozen=True, slots=True)
class NumSteps:
    """Optimizer steps of each training."""

    autoencoder: int = NUM_AUTOENCODER_STEPS
    transformer: int = NUM_TRANSFORMER_STEPS
    judge: int = NUM_JUDGE_STEPS


def build(folder: Path, judge_weights: Path, seed: int, num_steps: NumSteps) -> float:
    """Train all parts; save model and a sheet of samples in `folder`, the judge as `judge_weights`.

    Returns:
        The share of the sheet's samples whose colour and shape are both right.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vae = build_vae(rng, num_steps.autoencoder)
    pipeline = checkpoint.assemble(vae, flow_model.build_transformer(vae.config.latent_channels))
    text = checkpoint.encode_prompts(pipeline, [caption.text for caption in all_captions()])
    pipeline.register_modules(transformer=build_flow(vae, text, rng, num_steps.transformer))
    pipeline.save_pretrained(folder, safe_serialization=True)
    build_judge(rng, num_steps.judge).save(judge_weights)
    samples = checkpoint.sample_every_caption(
        checkpoint.load_pipeline(folder), NUM_SHEET_COLUMNS, NUM_DENOISING_STEPS, seed
    )
    save_contact_sheet(folder / "samples.png", samples, NUM_SHEET_COLUMNS, enlarge=2)
    return share_right(Judge.load(judge_weights), samples)


def share_right(judge: Judge, samples: ByteArray) -> float:
    """Share of samples, laid out as `sample_every_caption` gives them, that show what their caption says."""
    asked = [caption for caption in all_captions() for _ in range(len(samples) // len(all_captions()))]
    verdicts = judge.classify(samples)
    right = [v.colour == c.colour and v.shape == c.shape for v, c in zip(verdicts, asked, strict=True)]
    return float(np.mean(right))


def main() -> None:
    """Command line: see the module docstring."""
    parser = argparse.ArgumentParser(description="Train the shapes base model on drawn pictures.")
    parser.add_argument("--folder", type=Path, default=checkpoint.DEFAULT_FOLDER)
    parser.add_argument("--judge", type=Path, default=DEFAULT_WEIGHTS)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--autoencoder-steps", type=int, default=NUM_AUTOENCODER_STEPS)
    parser.add_argument("--transformer-steps", type=int, default=NUM_TRANSFORMER_STEPS)
    parser.add_argument("--judge-steps", type=int, default=NUM_JUDGE_STEPS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    num_steps = NumSteps(arguments.autoencoder_steps, arguments.transformer_steps, arguments.judge_steps)
    share = build(arguments.folder, arguments.judge, arguments.seed, num_steps)
    Console().print(f"colour and shape both right in {share:.1%} of the base model's samples; see {arguments.folder}")


if __name__ == "__main__":
    main()
