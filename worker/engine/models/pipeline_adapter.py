"""The base of every model adapter: a frozen diffusers pipeline, loaded in part, and the embeddings of its prompts.

Invariant: each prompt is encoded once, by itself, whether its embeddings are computed here or on another lane. A prompt
that was not encoded before the run is encoded on the CPU: no text encoder is on a device beside a policy.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from diffusers import DiffusionPipeline

from worker.engine.models import pipeline_loading
from worker.engine.models.embeddings import Embeddings, EmbeddingsInMemory, PromptEmbeddingCache, PromptEmbeds
from worker.engine.models.pipeline_loading import ALL_PARTS, TEXT_ONLY, Part
from worker.engine.step_count import advance


class PipelineAdapter(ABC):
    """A pipeline on one device, and its text encoders behind a cache."""

    pipeline_class: ClassVar[type[DiffusionPipeline]]
    vae_dtype: ClassVar[torch.dtype | None] = None
    """The autoencoder's dtype, where it is known to lose quality in half precision."""

    def __init__(self, pipeline: Any, path: str, device: torch.device, dtype: torch.dtype) -> None:
        """Wrap `pipeline`, which was loaded from `path` with its transformers in `dtype`."""
        self.device = device
        self.dtype = dtype
        self._pipeline = pipeline
        self._path = path
        self._on_device = PromptEmbeddingCache(device)
        self.embeddings: Embeddings = EmbeddingsInMemory()
        """Those of the run's prompts."""
        self.max_sequence_length: int | None = None
        """The tokens after which a prompt is cut off; `None` for the family's own number."""

    @classmethod
    def load(
        cls,
        path: str,
        device: torch.device,
        dtype: torch.dtype,
        *,
        wanted: frozenset[Part] = ALL_PARTS,
        given: Mapping[str, torch.nn.Module] | None = None,
    ) -> Self:
        """An adapter of the checkpoint at `path`, a folder or a hub id. Arguments and errors as in `load_pipeline`."""
        pipeline = pipeline_loading.load_pipeline(
            cls.pipeline_class, path, device=device, dtype=dtype, parts=wanted, vae_dtype=cls.vae_dtype, given=given
        )
        return cls(pipeline, path, device, dtype)

    def encode_prompt(self, prompt: str) -> PromptEmbeds:
        """The embeddings of `prompt` on the device, computed once."""
        embeds = self._on_device.get(prompt, self.embeddings)
        if embeds is None:
            self.encode_prompts([prompt])
            embeds = self._on_device.get(prompt, self.embeddings)
            assert embeds is not None, "encoded just now"
        return embeds

    def encode_prompts(self, prompts: Iterable[str]) -> None:
        """Encode all prompts that were not encoded yet, one at a time: a batch could change the bits of each. Without
        text encoders here, others are loaded on the CPU for that, once for all of them."""
        unknown = [prompt for prompt in dict.fromkeys(prompts) if self._on_device.get(prompt, self.embeddings) is None]
        if not unknown:
            return
        if pipeline_loading.has_text_encoders(self._pipeline):
            self._encode_all(unknown)
            return
        on_cpu = self.load(self._path, torch.device("cpu"), self.dtype, wanted=TEXT_ONLY)
        on_cpu.embeddings, on_cpu.max_sequence_length = self.embeddings.late(), self.max_sequence_length
        on_cpu._encode_all(unknown)
        on_cpu.drop_text_encoders()

    def _encode_all(self, prompts: Sequence[str]) -> None:
        with torch.inference_mode(False), torch.no_grad():
            for prompt in prompts:
                advance()
                self.embeddings.keep(prompt, self._encode(prompt))

    def drop_text_encoders(self) -> None:
        """Free the text encoders' memory; called when the run's prompts are encoded."""
        pipeline_loading.drop_text_encoders(self._pipeline)

    @abstractmethod
    def _encode(self, prompt: str) -> PromptEmbeds:
        """The embeddings of one prompt, from the pipeline's text encoders."""
