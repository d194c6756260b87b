"""The encoding phase of a run: all its prompts, before any policy is loaded, into the store of the node.

```text
texts ─► claims ─► lanes of the node encode a part each ─► EmbeddingStore ─► read by all of them, and by later runs
```

The text encoders of current models are as large as the transformer or larger, and a run needs them for seconds to
minutes. Invariant: no text encoder is on a device beside a policy. Host memory holds one prompt's embeddings at a time,
however many prompts there are.
"""

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

import torch

from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.devices.selection import resolve_device
from worker.engine.devices.smaller_calls import release_memory
from worker.engine.models.base import ModelAdapter
from worker.engine.models.embedding_store import EmbeddingStore
from worker.engine.models.embeddings import Embeddings, PromptEmbeds
from worker.engine.models.encoder_identity import encoder_identity
from worker.engine.models.pipeline_loading import TEXT_ONLY
from worker.engine.models.registry import check_drawable, load_model
from worker.scheduling.planning.stored_embeddings import known_texts, num_claims

logger = logging.getLogger(__name__)


def prompt_key(prompt: str) -> str:
    """The name of a prompt's embeddings in the store."""
    return hashlib.sha256(prompt.encode()).hexdigest()


class StoredEmbeddings(Embeddings):
    """Embeddings of one encoder in the store of the node."""

    def __init__(self, store: EmbeddingStore, encoder: str, late_encoder: str) -> None:
        """
        Args:
            store: the node's.
            encoder: the `encoder_identity` of the device that encodes the run's prompts.
            late_encoder: that of the CPU.
        """
        self.store = store
        self.encoder, self._late_encoder = encoder, late_encoder
        self._pin: object = None

    def find(self, prompt: str) -> PromptEmbeds | None:
        key = prompt_key(prompt)
        found = self.store.find(self.encoder, key)
        if found is None and self._late_encoder != self.encoder:
            found = self.store.find(self._late_encoder, key)
        return found

    def keep(self, prompt: str, embeds: PromptEmbeds) -> None:
        self.store.keep(self.encoder, prompt_key(prompt), embeds)

    def late(self) -> "StoredEmbeddings":
        return StoredEmbeddings(self.store, self._late_encoder, self._late_encoder)

    def pin(self, prompts: Sequence[str]) -> None:
        """Keep the embeddings of `prompts` as long as this object lives."""
        self._pin = self.store.pin(self.encoder, [prompt_key(prompt) for prompt in prompts])

    def missing(self, prompts: Sequence[str]) -> list[str]:
        """Those of `prompts` that are not stored, in order."""
        by_key = {prompt_key(prompt): prompt for prompt in prompts}
        return [by_key[key] for key in self.store.missing(self.encoder, by_key)]


def run_embeddings(
    spec: RunSpec, base_model_path: str, prompts: Iterable[Prompt], *, device: str | torch.device | None = None
) -> StoredEmbeddings:
    """The embeddings of all prompts that a run is known to draw, negative prompts included.

    It is the first thing that a lane loads, so it also checks that the model can draw what the spec asks for. Lanes of
    one node that call it at once share the work.

    Args:
        spec: the run's.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        prompts: the run's prompts; those of the evaluation and the negative prompts are added.
        device: where to encode; by default the accelerator's current device.

    Raises:
        ModelLoadError: as `load_model` and `check_drawable`.
        EmbeddingStoreError: when the store is too small.
    """
    check_drawable(spec.base_model, spec.sampling, base_model_path)
    texts = known_texts(spec, prompts)
    embeddings = stored_embeddings(spec, base_model_path, device=device)
    embeddings.pin(texts)
    _encode_missing(spec, base_model_path, texts, embeddings, resolve_device(device))
    return embeddings


def encode_on_cpu(spec: RunSpec, base_model_path: str, texts: Sequence[str]) -> None:
    """Encode what comes while the run works into the store of this node. Errors as `run_embeddings`."""
    embeddings = stored_embeddings(spec, base_model_path, device="cpu")
    _encode_missing(spec, base_model_path, texts, embeddings, torch.device("cpu"))


def stored_embeddings(
    spec: RunSpec, base_model_path: str, *, device: str | torch.device | None = None
) -> StoredEmbeddings:
    """What the store of this node holds for a run, without encoding anything. Errors as `EmbeddingStore.of_node`."""
    identity = partial(
        encoder_identity, spec.base_model, base_model_path, max_sequence_length=spec.sampling.max_sequence_length
    )
    return StoredEmbeddings(
        EmbeddingStore.of_node(), identity(device=resolve_device(device)), identity(device=torch.device("cpu"))
    )


def _encode_missing(
    spec: RunSpec, base_model_path: str, texts: Sequence[str], embeddings: StoredEmbeddings, device: torch.device
) -> None:
    """Encode what is not stored, a claim at a time: first what no other lane does, then what one has left undone."""
    number = num_claims(len(texts))
    open_claims = _by_claim(embeddings.missing(texts), number)
    # Lanes that begin together begin with different claims.
    first = os.getpid() % number
    order = sorted(open_claims, key=lambda claim: (claim - first) % number)
    encoder = _Encoder(spec, base_model_path, embeddings, device)
    try:
        for waits in (False, True):
            for claim in order:
                with embeddings.store.claim(embeddings.encoder, claim, waits=waits) as is_mine:
                    if is_mine:
                        encoder.encode(embeddings.missing(open_claims[claim]))
    finally:
        encoder.close()


def _by_claim(texts: Sequence[str], number: int) -> dict[int, list[str]]:
    found = defaultdict[int, list[str]](list)
    for text in texts:
        found[int(prompt_key(text)[:4], 16) % number].append(text)
    return found


class _Encoder:
    """The text encoders, which are loaded for the first prompt: on the device, or on the CPU where they do not fit."""

    def __init__(self, spec: RunSpec, base_model_path: str, embeddings: StoredEmbeddings, device: torch.device) -> None:
        self._spec, self._path = spec, base_model_path
        self._embeddings, self._device = embeddings, device
        self._model: ModelAdapter | None = None
        self._num_encoded = 0

    def encode(self, texts: Sequence[str]) -> None:
        if not texts:
            return
        if not self._encode(texts):
            logger.warning(
                "the text encoders of %s do not fit on %s: prompts are encoded on the CPU", self._path, self._device
            )
            self.close()
            release_memory()
            self._device, self._embeddings = torch.device("cpu"), self._embeddings.late()
            self._encode(texts)
        self._num_encoded += len(texts)

    def _encode(self, texts: Sequence[str]) -> bool:
        """Whether the device had the memory for it. What was encoded before it had not is stored."""
        try:
            self._model = self._model or load_model(
                self._spec.base_model,
                self._path,
                device=self._device,
                parts=TEXT_ONLY,
                embeddings=self._embeddings,
                sampling=self._spec.sampling,
            )
            self._model.encode_prompts(texts)
        except torch.OutOfMemoryError:
            if self._device.type == "cpu":
                raise
            return False
        return True

    def close(self) -> None:
        if self._model is not None:
            self._model.drop_text_encoders()
            self._model = None
        if self._num_encoded:
            logger.info("encoded %d prompts of the run", self._num_encoded)
