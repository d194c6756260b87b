"""More than one trained transformer: Wan2.2 gives high and low noise to an expert each.

Everything that trains, publishes or exports goes through one module tree. Here that tree holds the experts under the
pipeline's own component names, so LoRA tensors are told apart by their prefix (`transformer_2.blocks.0.…`).
"""

from collections.abc import Callable, Mapping

import torch

Expert = Callable[[torch.Tensor], torch.Tensor]
"""Which rows of the batch → their velocity."""


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
    is_high_noise: torch.Tensor, high_noise: Expert, low_noise: Expert, *, always_both: bool = False
) -> torch.Tensor:
    """Each row through the expert of its time: a replayed micro-batch may hold rows of both.

    Args:
        is_high_noise: (N,) bool.
        high_noise: the expert where it is true.
        low_noise: the expert where it is false.
        always_both: run an expert that no row asks for on the first row, for nothing: see `ranks_go_together`; a rank
            cannot know what rows the others have.
    """
    high, low = is_high_noise.nonzero().flatten(), (~is_high_noise).nonzero().flatten()
    if len(high) and len(low):
        joined = torch.cat([high_noise(high), low_noise(low)])
        return joined[torch.cat([high, low]).argsort()]
    if not always_both:
        return high_noise(high) if len(high) else low_noise(low)
    # The same order on every rank, whichever is the idle one.
    first_row = torch.zeros(1, dtype=torch.long, device=is_high_noise.device)
    of_high, of_low = (expert(own if len(own) else first_row) for expert, own in ((high_noise, high), (low_noise, low)))
    return of_high + 0.0 * of_low if len(high) else of_low + 0.0 * of_high


def ranks_go_together(transformer: torch.nn.Module) -> bool:
    """Whether all ranks must enter the same modules in the same order: where weights are sharded over them (ZeRO-3),
    and wherever they reduce gradients, which ZeRO-2 does in the order in which these arise."""
    if are_sharded(transformer):
        return True
    is_distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.is_grad_enabled() and is_distributed and torch.distributed.get_world_size() > 1


def are_sharded(transformer: torch.nn.Module) -> bool:
    """Whether the weights are sharded over ranks, as ZeRO-3 does it: all of them or none."""
    # Asked before each prediction, so a look at thousands of parameters would show.
    return hasattr(next(transformer.parameters()), "ds_id")
