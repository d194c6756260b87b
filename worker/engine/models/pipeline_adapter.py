"""The base of every model adapter: a frozen diffusers pipeline, loaded in part, and the embeddings of its prompts.

Invariant: each prompt is encoded once, by itself, whether its embeddings are computed here or imported from another
lane. Text encoders that were dropped are reloaded for a prompt that was not encoded yet.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import torch
from diffusers import DiffusionPipeline

from worker.engine.models import pipeline_loading
from worker.engine.models.embeddings import PromptEmbeddingCache, PromptEmbeds
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
        self._embeddings = PromptEmbeddingCache(device)

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
        """The embeddings of `prompt` on the device, computed once; dropped text encoders are reloaded for it."""
        if prompt not in self._embeddings:
            self.encode_prompts([prompt])
        return self._embeddings.get(prompt)

    def encode_prompts(self, prompts: Iterable[str]) -> None:
        """Encode all prompts that were not encoded yet, one at a time: a batch could change the bits of each."""
        unknown = [prompt for prompt in prompts if prompt not in self._embeddings]
        if not unknown:
            return
        if pipeline_loading.has_text_encoders(self._pipeline):
            with torch.inference_mode(False), torch.no_grad():
                for prompt in unknown:
                    advance()
                    self._embeddings.put(prompt, self._encode(prompt))
            return
        text_only = self.load(self._path, self.device, self.dtype, wanted=TEXT_ONLY)
        text_only.encode_prompts(unknown)
        text_only.drop_text_encoders()
        self.import_embeddings(text_only.export_embeddings())

    def export_embeddings(self) -> dict[str, PromptEmbeds]:
        """All embeddings known here, on the CPU, for `import_embeddings` of another adapter."""
        return self._embeddings.export()

    def import_embeddings(self, embeddings: Mapping[str, PromptEmbeds]) -> None:
        """Add what `export_embeddings` returned."""
        self._embeddings.update(embeddings)

    def drop_text_encoders(self) -> None:
        """Free the text encoders' memory; called when the run's prompts are encoded."""
        pipeline_loading.drop_text_encoders(self._pipeline)

    @abstractmethod
    def _encode(self, prompt: str) -> PromptEmbeds:
        """The embeddings of one prompt, from the pipeline's text encoders."""
