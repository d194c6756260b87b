"""What is known of a model family before any weights are read, for form and validation.

Invariant, held by a test: it says what the engine's pipeline adapters do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from worker.contracts.names import GuidanceKind, ModelFamily, VaeTiling
from worker.contracts.prompts import Prompt
from worker.contracts.sections import SamplingSpec
from worker.contracts.spec_bounds import MAX_SEQUENCE_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceLength:
    """How many tokens of a prompt a family reads, as its pipeline in diffusers documents it."""

    default: int = 512
    most: int = 512
    is_padded: bool = True
    """Whether shorter prompts are padded to it; otherwise an embedding is as long as its prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTraits:
    """What the checkpoints of a family have in common."""

    guidance: GuidanceKind
    """How its checkpoints apply guidance. A distilled checkpoint may have none, and takes a scale of 1 only."""
    sequence_length: SequenceLength = SequenceLength()
    """What `sampling.max_sequence_length` stands for where it is empty, and the most that it may be. A distilled
    checkpoint may have a default of its own."""
    takes_negative_prompt: bool = False
    """Whether its pipeline takes a negative prompt."""
    may_have_two_experts: bool = False
    """Whether some of its checkpoints have a second transformer, for low noise."""
    frames_per_latent: int | None = None
    """Frames that one latent frame stands for in a family that makes clips: a clip has a multiple of this plus 1
    frames. `None` for a family that makes pictures."""
    tiles_by_default: bool = False
    """Whether its autoencoder decodes in tiles where `sampling.vae_tiling` leaves it open."""

    @property
    def makes_clips(self) -> bool:
        """Whether the family generates video."""
        return self.frames_per_latent is not None


FAMILY_TRAITS: Mapping[ModelFamily, FamilyTraits] = {
    ModelFamily.FLUX: FamilyTraits(guidance=GuidanceKind.EMBEDDED),
    ModelFamily.SD3: FamilyTraits(
        guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, sequence_length=SequenceLength(default=256)
    ),
    ModelFamily.FLUX2: FamilyTraits(guidance=GuidanceKind.EMBEDDED),
    ModelFamily.FLUX2_KLEIN: FamilyTraits(guidance=GuidanceKind.TRUE_CFG),
    ModelFamily.QWEN_IMAGE: FamilyTraits(
        guidance=GuidanceKind.TRUE_CFG,
        takes_negative_prompt=True,
        sequence_length=SequenceLength(most=MAX_SEQUENCE_LENGTH, is_padded=False),
    ),
    ModelFamily.Z_IMAGE: FamilyTraits(
        guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, sequence_length=SequenceLength(is_padded=False)
    ),
    ModelFamily.WAN: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, frames_per_latent=4),
    ModelFamily.WAN22: FamilyTraits(
        guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, may_have_two_experts=True, frames_per_latent=4
    ),
    ModelFamily.HUNYUAN_VIDEO: FamilyTraits(
        guidance=GuidanceKind.EMBEDDED,
        frames_per_latent=4,
        sequence_length=SequenceLength(default=256, most=256),
        # Its authors' own sampling script does; a whole clip takes more memory to decode than the policy.
        tiles_by_default=True,
    ),
}


def decodes_in_tiles(family: ModelFamily, sampling: SamplingSpec) -> bool:
    """Whether samples larger than a tile are decoded in tiles. The autoencoder of every family can."""
    if sampling.vae_tiling is VaeTiling.AUTO:
        return FAMILY_TRAITS[family].tiles_by_default
    return sampling.vae_tiling is VaeTiling.ENABLED


def sampling_problems(family: ModelFamily, sampling: SamplingSpec) -> list[str]:
    """Settings of `sampling` that a family cannot generate with, each as a sentence for the user."""
    traits, found = FAMILY_TRAITS[family], []
    per_latent, num_frames = traits.frames_per_latent, sampling.num_frames
    if per_latent is None and num_frames > 1:
        found.append(f"`sampling.num_frames` must be 1 for {family}, got {num_frames}: it makes pictures, not clips")
    if per_latent is not None and (num_frames - 1) % per_latent:
        below = num_frames - (num_frames - 1) % per_latent
        found.append(
            f"`sampling.num_frames` must be a multiple of {per_latent} plus 1 for {family}, got {num_frames}: "
            f"take {below} or {below + per_latent}"
        )
    if traits.guidance is GuidanceKind.TRUE_CFG:
        scales = {"guidance_scale": sampling.guidance_scale, "train_guidance_scale": sampling.train_guidance_scale}
        found += [
            f"`sampling.{name}` must be ≥ 1 for {family}, got {scale}: 1 is no guidance, less would steer away from "
            "the prompt"
            for name, scale in scales.items()
            if scale is not None and scale < 1
        ]
    if (low_noise := sampling.guidance_scale_2) is not None:
        if not traits.may_have_two_experts:
            found.append(
                f"`sampling.guidance_scale_2` must be empty for {family}, got {low_noise}: it has no second transformer"
            )
        elif sampling.guidance_scale <= 1:
            found.append(
                f"`sampling.guidance_scale` must be > 1 where `guidance_scale_2` is given, got "
                f"{sampling.guidance_scale}: the pipeline applies guidance to both experts or to neither"
            )
    most, asked = traits.sequence_length.most, sampling.max_sequence_length
    if asked is not None and asked > most:
        found.append(
            f"`sampling.max_sequence_length` must be ≤ {most} for {family}, got {asked}: its text encoder was trained "
            "with no more tokens"
        )
    if sampling.negative_prompt and not traits.takes_negative_prompt:
        found.append(
            f"`sampling.negative_prompt` must be empty for {family}, got {sampling.negative_prompt!r}: "
            "its pipeline takes none"
        )
    return found


def negative_prompt_problem(family: ModelFamily, prompts: Iterable[Prompt]) -> str | None:
    """What is wrong with the first prompt that has a negative prompt although the family takes none."""
    if FAMILY_TRAITS[family].takes_negative_prompt:
        return None
    for number, prompt in enumerate(prompts, start=1):
        if prompt.negative:
            return (
                f"prompt {number}: `negative` must be left out for {family}, got {prompt.negative[:60]!r}: "
                "its pipeline takes no negative prompt"
            )
    return None


def size_multiple(family: ModelFamily, *, transformer: Mapping[str, Any], vae: Mapping[str, Any]) -> int:
    """What heights and widths must be multiples of, in pixels: pixels of a latent × latents of a token.

    Args:
        family: the family of the checkpoint.
        transformer: the checkpoint's `transformer/config.json`.
        vae: the checkpoint's `vae/config.json`.
    """
    match family:
        case ModelFamily.WAN | ModelFamily.WAN22:
            return int(vae.get("scale_factor_spatial", 8) * transformer.get("patch_size", (1, 2, 2))[1])
        case ModelFamily.HUNYUAN_VIDEO:
            return int(vae.get("spatial_compression_ratio", 8) * transformer.get("patch_size", 2))
        case ModelFamily.QWEN_IMAGE:
            return int(2 ** len(vae.get("temperal_downsample", (False, True, True))) * 2)
    num_levels = len(vae.get("block_out_channels", (128, 256, 512, 512)))
    patch = transformer.get("patch_size", 2) if family is ModelFamily.SD3 else 2
    return int(2 ** (num_levels - 1) * patch)


def size_problem(name: str, value: int, multiple: int) -> str | None:
    """Why `sampling.<name>` cannot be `value`, as a sentence for the user; `None` if it can."""
    if value % multiple == 0:
        return None
    below = max(value // multiple * multiple, multiple)
    return (
        f"`sampling.{name}` must be a multiple of {multiple} for this model, got {value}: take {below} or "
        f"{below + multiple}"
    )
