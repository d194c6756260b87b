"""What is known of a model family before any weights are read: forms and validation ask here.

A test equates it with what the engine's adapters do.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from worker.contracts.names import GuidanceKind, ModelFamily


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTraits:
    guidance: GuidanceKind
    """Of a checkpoint that has any; one without (a distilled one) takes a scale of 1 only."""
    takes_negative_prompt: bool = False
    frames_per_latent: int | None = None
    """Of a family that makes clips, which have a multiple of this + 1 frames; `None`: it makes pictures."""

    @property
    def makes_clips(self) -> bool:
        return self.frames_per_latent is not None


FAMILY_TRAITS: Mapping[ModelFamily, FamilyTraits] = {
    ModelFamily.FLUX: FamilyTraits(guidance=GuidanceKind.EMBEDDED),
    ModelFamily.SD3: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True),
    ModelFamily.FLUX2: FamilyTraits(guidance=GuidanceKind.EMBEDDED),
    ModelFamily.FLUX2_KLEIN: FamilyTraits(guidance=GuidanceKind.TRUE_CFG),
    ModelFamily.QWEN_IMAGE: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True),
    ModelFamily.Z_IMAGE: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True),
    ModelFamily.WAN: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, frames_per_latent=4),
    ModelFamily.WAN22: FamilyTraits(guidance=GuidanceKind.TRUE_CFG, takes_negative_prompt=True, frames_per_latent=4),
    ModelFamily.HUNYUAN_VIDEO: FamilyTraits(guidance=GuidanceKind.EMBEDDED, frames_per_latent=4),
}
