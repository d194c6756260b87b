"""The build in miniature: a few steps of every training, from nothing to a loadable checkpoint."""

from pathlib import Path

import numpy as np
import pytest
import torch

from worker.shapes import build as build_module
from worker.shapes.autoencoder import build_autoencoder, encode_pictures, set_normalisation, train_autoencoder
from worker.shapes.build import NumSteps, build
from worker.shapes.checkpoint import load_pipeline
from worker.shapes.drawing import random_drawing
from worker.shapes.judge import Judge, train_judge


def test_a_short_build_leaves_a_checkpoint_a_judge_and_a_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "NUM_PICTURES", 64)
    judge_weights = tmp_path / "judge.safetensors"
    share = build(tmp_path, judge_weights, seed=1, num_steps=NumSteps(autoencoder=2, transformer=2, judge=2))
    assert 0.0 <= share <= 1.0
    assert (tmp_path / "samples.png").is_file()
    assert load_pipeline(tmp_path).transformer.config.in_channels == 64
    Judge.load(judge_weights)


def test_the_autoencoder_learns() -> None:
    torch.manual_seed(0)
    seen: list[float] = []
    train_autoencoder(build_autoencoder(), 25, np.random.default_rng(0), seen.append)
    assert np.mean(seen[-5:]) > np.mean(seen[:5]) + 1.0


def test_the_judge_learns() -> None:
    torch.manual_seed(0)
    seen: list[float] = []
    train_judge(25, np.random.default_rng(0), seen.append)
    assert np.mean(seen[-5:]) < np.mean(seen[:5]) - 0.3


def test_normalised_latents_have_mean_zero_and_spread_one() -> None:
    torch.manual_seed(0)
    vae = build_autoencoder()
    rng = np.random.default_rng(0)
    latents = encode_pictures(vae, np.stack([random_drawing(rng)[0] for _ in range(20)]), chunk_size=8)
    normal = set_normalisation(vae, latents)
    assert abs(float(normal.mean())) < 1e-4
    assert abs(float(normal.std()) - 1.0) < 1e-3
    assert torch.allclose(normal / vae.config.scaling_factor + vae.config.shift_factor, latents, atol=1e-4)
