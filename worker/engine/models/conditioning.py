"""What predictions are conditioned on: the prompt, the sample's size and guidance."""

from dataclasses import dataclass

from worker.engine.models.embeddings import PromptEmbeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What a batch of latents is denoised towards: one prompt, since fragments and micro-batches never mix groups."""

    prompt: PromptEmbeds
    height: int
    """Pixels."""
    width: int
    """Pixels."""
    guidance_scale: float
    """The scale of guidance as `worker.engine.models.guidance` defines it; 1 is none."""
    guidance_scale_2: float | None = None
    """The scale of the low-noise expert, where it differs from `guidance_scale`."""
    num_frames: int = 1
    negative: PromptEmbeds | None = None
    """The negative prompt, where true CFG needs it."""
    batched_cfg: bool = False
    """Whether true CFG runs one forward pass of twice the batch instead of two passes."""
