"""Pipelines with more than one transformer: Wan2.2 has one expert for high and one for low noise.

Training, publishing and export work on one module tree. `Experts` is that tree: it holds the experts under the
pipeline's own component names, so their tensors differ by a name prefix (`transformer_2.blocks.0.…`).
"""

from collections.abc import Callable, Mapping

import torch

Expert = Callable[[torch.Tensor], torch.Tensor]
"""A prediction by one expert: indices of rows of the batch (M,) → their velocity (M, ...)."""


class Experts(torch.nn.Module):
    """A container of experts by component name; only the experts themselves are called."""

    def __init__(self, experts: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        self.in_lockstep = False
        """Whether ranks reduce gradients in every backward pass, in its order (ZeRO 2 on several ranks)."""
        self.has_gradients = False
        """Whether a backward pass since the last optimizer step has written every gradient."""
        for name, expert in experts.items():
            self.add_module(name, expert)


def experts_of(transformer: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """The transformers in a module tree, by the prefix of their parameters' names; a single one has the prefix ""."""
    if not isinstance(transformer, Experts):
        return {"": transformer}
    return {f"{name}.": expert for name, expert in transformer.named_children()}


def by_expert(
    is_high_noise: torch.Tensor, high_noise: Expert, low_noise: Expert, *, runs: tuple[bool, bool] = (False, False)
) -> torch.Tensor:
    """The velocity of each row (N, ...) by its expert; a replayed micro-batch may hold rows of both.

    Args:
        is_high_noise: (N,) bool.
        high_noise: predicts the rows where it is true.
        low_noise: predicts the rows where it is false.
        runs: which experts, of high and of low noise, run in any case, as `running_experts` says. One without rows
            predicts the first row, and the result is discarded.
    """
    high, low = is_high_noise.nonzero().flatten(), (~is_high_noise).nonzero().flatten()
    if len(high) and len(low):
        joined = torch.cat([high_noise(high), low_noise(low)])
        return joined[torch.cat([high, low]).argsort()]
    if not all(runs):
        return high_noise(high) if len(high) else low_noise(low)
    # High noise first on every rank, whichever expert has no rows.
    first_row = torch.zeros(1, dtype=torch.long, device=is_high_noise.device)
    of_high, of_low = (expert(own if len(own) else first_row) for expert, own in ((high_noise, high), (low_noise, low)))
    return of_high + 0.0 * of_low if len(high) else of_low + 0.0 * of_high


def running_experts(experts: Experts, is_high_noise: torch.Tensor) -> tuple[bool, bool]:
    """Whether the expert of high, and that of low noise predicts: those that have rows, on any rank where all ranks
    must run the same modules in the same order. There it is a collective of two numbers, which costs less than a pass.

    In lockstep the first pass with a gradient since an optimizer step runs both: DeepSpeed writes a gradient then and
    adds to it later, so that one which it has not written would be the last step's.
    """
    own = (bool(is_high_noise.any()), not bool(is_high_noise.all()))
    if not _ranks_run_in_lockstep(experts):
        return own
    if torch.is_grad_enabled() and not experts.has_gradients:
        return True, True
    if torch.distributed.get_world_size() == 1:
        return own
    flags = torch.tensor(own, dtype=torch.int32, device=is_high_noise.device)
    torch.distributed.all_reduce(flags, torch.distributed.ReduceOp.MAX)
    high, low = flags.tolist()
    return bool(high), bool(low)


def _ranks_run_in_lockstep(experts: Experts) -> bool:
    """Where weights are sharded over ranks (ZeRO 3), and where ranks reduce gradients in every backward pass (ZeRO 2).
    In ZeRO 0 and 1 they reduce once a step, and a gradient that an expert has not got is filled with zeros then."""
    return are_sharded(experts) or (experts.in_lockstep and torch.is_grad_enabled())


def are_sharded(transformer: torch.nn.Module) -> bool:
    """Whether the weights are sharded over ranks. ZeRO 3 shards all of them, so the first one tells."""
    # Called before each prediction, so that a loop over thousands of parameters would slow it down.
    return hasattr(next(transformer.parameters()), "ds_id")
