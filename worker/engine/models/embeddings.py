"""The embeddings of a run's prompts: computed once, kept on the CPU, the most recently used ones on the device as well.

A lane that imports embeddings needs no text encoder. Thousands of prompts would not fit on the device beside the
policy.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping

import torch

PromptEmbeds = Mapping[str, torch.Tensor]
"""Named embeddings of one prompt, each with a first dimension of 1 that broadcasts over a batch. Other dimensions may
differ from prompt to prompt."""

NUM_ON_DEVICE = 64
"""Prompts whose embeddings stay on the device: at 4 MiB (FLUX.1) to 16 MiB (FLUX.2) each, 256 MiB to 1 GiB."""


def prompt_key(prompt: str) -> str:
    """The key under which a prompt's embeddings are kept."""
    return hashlib.sha256(prompt.encode()).hexdigest()


class PromptEmbeddingCache:
    """Embeddings by `prompt_key`: all of them on the CPU, the `NUM_ON_DEVICE` last used on the device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._on_cpu: dict[str, PromptEmbeds] = {}
        self._on_device: OrderedDict[str, PromptEmbeds] = OrderedDict()

    def __contains__(self, prompt: str) -> bool:
        return prompt_key(prompt) in self._on_cpu

    def put(self, prompt: str, embeds: PromptEmbeds) -> None:
        """Keep the embeddings of `prompt`."""
        self._on_cpu[prompt_key(prompt)] = {name: tensor.to("cpu") for name, tensor in embeds.items()}

    def get(self, prompt: str) -> PromptEmbeds:
        """The embeddings of `prompt` on the device. Raises `KeyError` for a prompt that is not kept."""
        key = prompt_key(prompt)
        if key not in self._on_device:
            self._on_device[key] = {name: tensor.to(self._device) for name, tensor in self._on_cpu[key].items()}
            while len(self._on_device) > NUM_ON_DEVICE:
                self._on_device.popitem(last=False)
        self._on_device.move_to_end(key)
        return self._on_device[key]

    def update(self, embeddings: Mapping[str, PromptEmbeds]) -> None:
        """Keep all that `export` returned, in this process or on another lane."""
        self._on_cpu.update(embeddings)

    def export(self) -> dict[str, PromptEmbeds]:
        """All embeddings by `prompt_key`, on the CPU."""
        return dict(self._on_cpu)
