"""The committed base model: a stock FluxPipeline, small, and honest about how badly it follows its prompts."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
from transformers import CLIPTextModel, CLIPTokenizer, T5EncoderModel, T5Tokenizer

from worker.shapes.autoencoder import to_tensor
from worker.shapes.build import share_right
from worker.shapes.captions import all_captions
from worker.shapes.checkpoint import DEFAULT_FOLDER, encode_prompts, load_pipeline, sample_every_caption
from worker.shapes.drawing import random_drawing
from worker.shapes.judge import Judge
from worker.shapes.text import T5_NUM_TOKENS, VOCABULARY


def test_the_checkpoint_is_a_flux_pipeline_of_stock_classes(pipeline: FluxPipeline) -> None:
    assert type(pipeline) is FluxPipeline
    assert type(pipeline.transformer) is FluxTransformer2DModel
    assert type(pipeline.vae) is AutoencoderKL
    assert type(pipeline.scheduler) is FlowMatchEulerDiscreteScheduler
    assert type(pipeline.text_encoder) is CLIPTextModel
    assert type(pipeline.text_encoder_2) is T5EncoderModel
    assert isinstance(pipeline.tokenizer, CLIPTokenizer)
    assert isinstance(pipeline.tokenizer_2, T5Tokenizer)
    assert not pipeline.transformer.config.guidance_embeds


def test_the_checkpoint_is_under_ten_megabytes_of_safetensors() -> None:
    files = [path for path in DEFAULT_FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 10_000_000
    assert {path.suffix for path in files} <= {".safetensors", ".json", ".png"}


def test_every_known_word_is_one_token(pipeline: FluxPipeline) -> None:
    for word in VOCABULARY:
        assert pipeline.tokenizer.tokenize(word) == [word + "</w>"]
        assert pipeline.tokenizer_2.tokenize(word) == ["▁" + word]


def test_sampling_length_can_be_read_from_the_tokenizer(pipeline: FluxPipeline) -> None:
    assert pipeline.tokenizer_2.model_max_length == T5_NUM_TOKENS


def nearest_pair(answers: torch.Tensor) -> float:
    """Least Euclidean distance between two rows of `answers` (18, …)."""
    return float(torch.pdist(answers.flatten(1).double()).min())


def test_no_rounding_makes_one_captions_embedding_another(pipeline: FluxPipeline) -> None:
    """The encoders are random, so that they tell captions apart is luck of their seed and must be looked at.

    The coarsest dtype a spec allows is bf16: it moves no number by more than its `eps` times the number, hence a
    vector by no more than `eps` times its norm. Two captions further apart than twice that can never be confused.
    """
    embeddings, pooled = encode_prompts(pipeline, [caption.text for caption in all_captions()])
    assert embeddings.shape == (18, T5_NUM_TOKENS, 32)
    for encoded in (embeddings, pooled):
        rounding = torch.finfo(torch.bfloat16).eps * float(encoded.flatten(1).norm(dim=1).max())
        assert nearest_pair(encoded) > 2 * rounding


@pytest.mark.parametrize("sigma", [1.0, 0.7, 0.4])
def test_every_caption_moves_the_model_further_than_rounding_does(pipeline: FluxPipeline, sigma: float) -> None:
    """What training needs of the text: from one noise, each caption gives a denoising step of its own.

    Only then can a LoRA learn one caption's picture without another's. "Of its own" is measured against the model's
    own round-off in bf16: were two captions' velocities nearer than twice that, they could change places.
    """
    text = encode_prompts(pipeline, [caption.text for caption in all_captions()])
    noise = torch.randn(1, 16, pipeline.transformer.config.in_channels, generator=torch.Generator().manual_seed(0))
    exact = velocities(pipeline.transformer, text, noise, sigma, torch.float64)
    rounded = velocities(pipeline.transformer, text, noise, sigma, torch.bfloat16)
    rounding = float((rounded - exact).flatten(1).norm(dim=1).max())
    assert nearest_pair(exact) > 2 * rounding


@torch.no_grad()
def velocities(
    transformer: FluxTransformer2DModel,
    text: tuple[torch.Tensor, torch.Tensor],
    noise: torch.Tensor,
    sigma: float,
    dtype: torch.dtype,
) -> torch.Tensor:
    """The velocity of each caption from the same `noise` (1, 16, channels), computed in `dtype`: float64 (18, …)."""
    embeddings, pooled = text
    velocity: torch.Tensor = copy.deepcopy(transformer).to(dtype)(
        hidden_states=noise.expand(18, -1, -1).to(dtype),
        encoder_hidden_states=embeddings.to(dtype),
        pooled_projections=pooled.to(dtype),
        timestep=torch.full((18,), sigma, dtype=dtype),
        img_ids=FluxPipeline._prepare_latent_image_ids(1, 4, 4, torch.device("cpu"), torch.float32),
        txt_ids=torch.zeros(T5_NUM_TOKENS, 3),
        return_dict=False,
    )[0]
    return velocity.double()


def test_one_seed_gives_one_set_of_pictures(pipeline: FluxPipeline) -> None:
    first = sample_every_caption(pipeline, 1, 2, seed=3)
    np.testing.assert_array_equal(first, sample_every_caption(pipeline, 1, 2, seed=3))
    assert np.any(first != sample_every_caption(pipeline, 1, 2, seed=4))


def test_the_base_model_follows_its_prompt_in_at_most_a_quarter_of_the_samples(
    pipeline: FluxPipeline, judge: Judge
) -> None:
    share = share_right(judge, sample_every_caption(pipeline, 16, 6, seed=1_000_003))
    assert 0.05 <= share <= 0.25


def test_the_autoencoder_restores_drawings_well_enough_for_the_judge(pipeline: FluxPipeline, judge: Judge) -> None:
    rng = np.random.default_rng(5)
    pictures, captions = zip(*(random_drawing(rng) for _ in range(100)), strict=True)
    with torch.no_grad():
        latents = pipeline.vae.encode(to_tensor(np.stack(pictures))).latent_dist.mode()
        restored = pipeline.vae.decode(latents).sample
    images = ((restored / 2 + 0.5).clamp(0, 1) * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    verdicts = judge.classify(images)
    right = [v.colour == c.colour and v.shape == c.shape for v, c in zip(verdicts, captions, strict=True)]
    assert np.mean(right) >= 0.97


def test_a_folder_without_a_checkpoint_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make demo-model"):
        load_pipeline(tmp_path)
    with pytest.raises(FileNotFoundError, match="make demo-model"):
        Judge.load(tmp_path / "judge.safetensors")
