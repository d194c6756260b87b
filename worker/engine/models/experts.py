"""More than one trained transformer: Wan2.2 gives high and low noise to an expert each.

Everything that trains, publishes or exports goes through one module tree. Here that tree holds the experts under the
pipeline's own component names, so LoRA tensors are told apart by their prefix (`transformer_2.blocks.0.…`).
"""

from collections.abc import Callable, Mapping

import torch

Expert = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""(latents, sigmas) → velocity."""


class Experts(torch.nn.Module):
    """A holder, never called as a whole."""

    def __init__(self, experts: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        for name, expert in experts.items():
            self.add_module(name, expert)


def experts_of(transformer: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """The transformers in a tree by the prefix of their parameters' names: a single one has none."""
    if not isinstance(transformer, Experts):
        return {"": transformer}
    return {f"{name}.": expert for name, expert in transformer.named_children()}


def by_expert(
    latents: torch.Tensor, sigmas: torch.Tensor, is_high_noise: torch.Tensor, high_noise: Expert, low_noise: Expert
) -> torch.Tensor:
    """Each row through the expert of its sigma: a replayed micro-batch may hold rows of both.

    Args:
        latents: (N, ...).
        sigmas: (N,).
        is_high_noise: (N,) bool.
        high_noise: the expert where it is true.
        low_noise: the expert where it is false.
    """
    if bool(is_high_noise.all()):
        return high_noise(latents, sigmas)
    if not bool(is_high_noise.any()):
        return low_noise(latents, sigmas)
    high, low = is_high_noise.nonzero().flatten(), (~is_high_noise).nonzero().flatten()
    joined = torch.cat([high_noise(latents[high], sigmas[high]), low_noise(latents[low], sigmas[low])])
    return joined[torch.cat([high, low]).argsort()]
