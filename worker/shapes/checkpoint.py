"""Put the shapes parts together as a stock FluxPipeline, save it, and load what was saved.

The saved folder is ordinary diffusers layout in fp32 safetensors: `FluxPipeline.from_pretrained` needs nothing of
ours, and so does everything downstream of it.
"""

from pathlib import Path

import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel

from worker.shapes import text
from worker.shapes.captions import all_captions
from worker.shapes.drawing import RESOLUTION, ByteArray

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "models" / "shapes"
"""In the checkout, for the build and the tests; a run is told by the web where its base model lies."""


def assemble(vae: AutoencoderKL, transformer: FluxTransformer2DModel) -> FluxPipeline:
    """A FluxPipeline of the given parts with fresh random text encoders (call under a fixed torch seed)."""
    clip_tokenizer, t5_tokenizer = text.build_clip_tokenizer(), text.build_t5_tokenizer()
    return FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=text.build_clip_encoder(clip_tokenizer),
        tokenizer=clip_tokenizer,
        text_encoder_2=text.build_t5_encoder(t5_tokenizer),
        tokenizer_2=t5_tokenizer,
        transformer=transformer,
    )


@torch.no_grad()
def encode_prompts(pipeline: FluxPipeline, prompts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompt embeddings (N, T5_NUM_TOKENS, dim) and pooled embeddings (N, dim)."""
    embeddings, pooled, _ = pipeline.encode_prompt(
        prompt=prompts, prompt_2=None, max_sequence_length=text.T5_NUM_TOKENS
    )
    return embeddings, pooled


def load_pipeline(folder: Path = DEFAULT_FOLDER) -> FluxPipeline:
    """The saved checkpoint, in fp32, from local files only.

    Raises:
        FileNotFoundError: when `folder` holds no checkpoint.
    """
    if not (folder / "model_index.json").is_file():
        raise FileNotFoundError(f"no shapes checkpoint in {folder}: build it with `make demo-model`")
    pipeline: FluxPipeline = FluxPipeline.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def sample_every_caption(
    pipeline: FluxPipeline, num_per_caption: int, num_denoising_steps: int, seed: int
) -> ByteArray:
    """Pictures of all captions in order, `num_per_caption` each, uint8 of (18 * num_per_caption, 32, 32, 3)."""
    pictures: ByteArray = pipeline(
        [caption.text for caption in all_captions()],
        height=RESOLUTION,
        width=RESOLUTION,
        num_inference_steps=num_denoising_steps,
        num_images_per_prompt=num_per_caption,
        max_sequence_length=text.T5_NUM_TOKENS,
        generator=torch.Generator().manual_seed(seed),
        output_type="np",
    ).images
    return (pictures * 255).round().astype("uint8")
