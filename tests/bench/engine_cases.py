"""What `make bench-engine` measures: every model family's tiny checkpoint, and one transformer large enough that its
arithmetic outweighs the cost of calls."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers import FluxTransformer2DModel

from tests.bench.engine_pairs import on_cpu
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.contracts.run_spec import RunSpec
from worker.fixtures.shapes.caption_encoders import EMBEDDING_DIM, T5_NUM_TOKENS
from worker.fixtures.tiny_models.chat_encoders import randomised
from worker.fixtures.tiny_models.picture_pipelines import LATENT_CHANNELS, build_flux
from worker.fixtures.tiny_models.tiny_pipelines import TINY_PIPELINES
from worker.scheduling.profiles.image_models import FLUX
from worker.scheduling.profiles.model_profile import ModelProfile

HEAD_DIM = 64
"""The width of an attention head of the large FLUX."""
TOKEN_PIXELS = 8
"""The side of a token in pixels: 4 of the tiny autoencoder, times patches of 2 × 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of the large FLUX, half of whose blocks are two-stream and half one-stream, and of its batches."""

    width: int
    num_layers: int
    """The number of blocks."""
    side: int
    """Width and height of the pictures in pixels."""
    dtype: str
    members: int
    """The members of a group."""
    micro_batch_size: int

    def profile(self) -> ModelProfile:
        """The model's profile, counted as in `worker.scheduling.profiles.known_models`."""
        tokens_in_block = 12 * self.width**2
        return ModelProfile(
            name="bench-flux",
            parameters=self.num_layers * (2 * tokens_in_block + 12 * self.width**2 + 15 * self.width**2) / 2,
            num_layers=self.num_layers,
            width=self.width,
            layer_parameters_per_token=tokens_in_block,
            text_tokens=T5_NUM_TOKENS,
            token_pixels=TOKEN_PIXELS,
            lora_parameters_per_rank=0.0,
            lora_activation_bytes=FLUX.lora_activation_bytes,
            full_activation_bytes=FLUX.full_activation_bytes,
            decoder_flops_per_pixel=0.0,
            embedding=FLUX.embedding,
            decoder_parameters=0.0,
            decoder_values_per_pixel=0.0,
            decoding=FLUX.decoding,
            source="built here: half of its blocks two-stream, half one-stream",
        )


CPU_SIZE = Size(width=384, num_layers=12, side=96, dtype="fp32", members=2, micro_batch_size=2)
DEVICE_SIZE = Size(width=3072, num_layers=16, side=512, dtype="bf16", members=8, micro_batch_size=4)
TINY_SIZE = Size(width=64, num_layers=4, side=32, dtype="fp32", members=2, micro_batch_size=2)
SIZES = {"cpu": CPU_SIZE, "device": DEVICE_SIZE, "tiny": TINY_SIZE}

PROMPTS = ("a red square", "a blue circle", "a green cross", "a white star", "a black ring")
"""As many as give an optimizer step ten micro-batches, one of which is monitored in the first step of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A checkpoint and the spec that it is measured with."""

    name: str
    spec: RunSpec
    build: Callable[[], Any]
    """Builds the pipeline."""
    profile: ModelProfile | None = None
    """The model's profile, where the model is large enough for a meaningful MFU."""

    def checkpoint(self, folder: Path) -> str:
        """The path of the checkpoint below `folder`, built if it is not there."""
        path = folder / self.name
        if not path.exists():
            torch.manual_seed(0)
            self.build().save_pretrained(path)
        return str(path)


def tiny_case(family: ModelFamily) -> Case:
    sampling = {"num_frames": 9 if FAMILY_TRAITS[family].makes_clips else 1}
    spec = _spec(family, members=4, micro_batch_size=8, sampling=sampling)
    return Case(name=family.value, spec=spec, build=TINY_PIPELINES[family])


def size_named(name: str) -> Size:
    """A size of `SIZES`. Raises `KeyError` for another name."""
    return SIZES[name]


def large_size_name() -> str:
    """The name of the size for the device of this process."""
    return "cpu" if on_cpu() else "device"


def large_size() -> Size:
    """The size for the device of this process."""
    return size_named(large_size_name())


def large_case(size: Size) -> Case:
    sampling = {"height": size.side, "width": size.side, "num_sde_steps": 2}
    return Case(
        name="flux large",
        spec=_spec(
            ModelFamily.FLUX,
            members=size.members,
            micro_batch_size=size.micro_batch_size,
            sampling=sampling,
            dtype=size.dtype,
        ),
        build=lambda: _build_large(size),
        profile=size.profile(),
    )


def _spec(
    family: ModelFamily, *, members: int, micro_batch_size: int, sampling: dict[str, Any], dtype: str = "fp32"
) -> RunSpec:
    """A spec whose batch is one mini-batch; by default 4 of 6 denoising steps are stochastic."""
    return RunSpec.model_validate(
        {
            "base_model": {"family": family.value, "dtype": dtype},
            "prompts": {"inline": PROMPTS},
            "rewards": [{"name": "colorfulness"}],
            "lora": {"rank": 16, "alpha": 32.0},
            "sampling": {"num_denoising_steps": 6, "num_eval_denoising_steps": 6, "num_sde_steps": 4, **sampling},
            "batch": {
                "num_prompts_per_batch": len(PROMPTS),
                "group_size": members,
                "micro_batch_size": micro_batch_size,
            },
        }
    )


def _build_large(size: Size) -> Any:
    pipeline = build_flux()
    pipeline.register_modules(
        transformer=randomised(
            FluxTransformer2DModel(
                patch_size=1,
                in_channels=LATENT_CHANNELS * 4,
                num_layers=size.num_layers // 2,
                num_single_layers=size.num_layers // 2,
                attention_head_dim=HEAD_DIM,
                num_attention_heads=size.width // HEAD_DIM,
                joint_attention_dim=EMBEDDING_DIM,
                pooled_projection_dim=EMBEDDING_DIM,
                guidance_embeds=True,
                axes_dims_rope=(16, 24, 24),
            )
        )
    )
    return pipeline
