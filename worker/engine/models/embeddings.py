"""The embeddings of prompts as a lane uses them: kept outside its device, the last used ones on it as well.

```text
encoding phase ─► EmbeddingStore on the node's disk ─► Embeddings ─► PromptEmbeddingCache on the device
```
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

import torch

from worker.scheduling.planning.stored_embeddings import NUM_ON_DEVICE

PromptEmbeds = Mapping[str, torch.Tensor]
"""Named embeddings of one prompt, each with a first dimension of 1 that broadcasts over a batch. Other dimensions may
differ from prompt to prompt."""


class Embeddings(Protocol):
    """Embeddings by prompt, outside the device."""

    def find(self, prompt: str) -> PromptEmbeds | None:
        """Those of `prompt`; `None` where it was not encoded yet."""

    def keep(self, prompt: str, embeds: PromptEmbeds) -> None:
        """Keep those of `prompt`."""

    def late(self) -> "Embeddings":
        """Where embeddings are kept that the CPU makes while the run works; `find` finds them, too."""


class EmbeddingsInMemory(Embeddings):
    """Embeddings in the host's memory, which nothing evicts: for tests and measurements of a few prompts."""

    def __init__(self, embeddings: Mapping[str, PromptEmbeds] | None = None) -> None:
        self._by_prompt = dict(embeddings or {})

    def find(self, prompt: str) -> PromptEmbeds | None:
        return self._by_prompt.get(prompt)

    def keep(self, prompt: str, embeds: PromptEmbeds) -> None:
        self._by_prompt[prompt] = {name: tensor.to("cpu") for name, tensor in embeds.items()}

    def late(self) -> "EmbeddingsInMemory":
        return self


class PromptEmbeddingCache:
    """The embeddings of the `NUM_ON_DEVICE` prompts used last, on the device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._on_device: OrderedDict[str, PromptEmbeds] = OrderedDict()

    def get(self, prompt: str, embeddings: Embeddings) -> PromptEmbeds | None:
        """Those of `prompt`, from `embeddings` where they are not on the device; `None` where they are not there
        either."""
        if prompt not in self._on_device:
            found = embeddings.find(prompt)
            if found is None:
                return None
            self._on_device[prompt] = {name: tensor.to(self._device) for name, tensor in found.items()}
            while len(self._on_device) > NUM_ON_DEVICE:
                self._on_device.popitem(last=False)
        self._on_device.move_to_end(prompt)
        return self._on_device[prompt]
