"""Embeddings of a run's prompts: computed once, kept on the CPU, and on the device those that were used last.

A lane that is handed embeddings needs no text encoder; thousands of prompts would not fit beside the policy.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping

import torch

PromptEmbeds = Mapping[str, torch.Tensor]
"""Named embeddings of one prompt, each with a first dimension of 1 that broadcasts over a batch. Other dimensions may
differ from prompt to prompt."""

NUM_ON_DEVICE = 64


def prompt_key(prompt: str) -> str:
    """What embeddings are kept under."""
    return hashlib.sha256(prompt.encode()).hexdigest()


class PromptEmbeddingCache:
    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._kept: dict[str, PromptEmbeds] = {}
        self._on_device: OrderedDict[str, PromptEmbeds] = OrderedDict()

    def __contains__(self, prompt: str) -> bool:
        return prompt_key(prompt) in self._kept

    def put(self, prompt: str, embeds: PromptEmbeds) -> None:
        self._kept[prompt_key(prompt)] = {name: tensor.to("cpu") for name, tensor in embeds.items()}

    def get(self, prompt: str) -> PromptEmbeds:
        """On the device. Raises `KeyError` for a prompt that was not put."""
        key = prompt_key(prompt)
        if key not in self._on_device:
            self._on_device[key] = {name: tensor.to(self._device) for name, tensor in self._kept[key].items()}
            while len(self._on_device) > NUM_ON_DEVICE:
                self._on_device.popitem(last=False)
        self._on_device.move_to_end(key)
        return self._on_device[key]

    def take(self, embeddings: Mapping[str, PromptEmbeds]) -> None:
        """Put all of what `give` returned, on another lane perhaps."""
        self._kept.update(embeddings)

    def give(self) -> dict[str, PromptEmbeds]:
        """Everything, on the CPU, by `prompt_key`."""
        return dict(self._kept)
