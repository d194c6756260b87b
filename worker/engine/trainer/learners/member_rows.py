"""Finds the tensors of members among the parts of trajectories that this rank was given, and copies them to its
device."""

from collections.abc import Callable, Sequence

import torch

from worker.engine.types import Trajectories

TensorOf = Callable[[Trajectories], torch.Tensor | None]
"""A part's tensor (N, ...) of one kind; `None` where the part has none."""


def member_rows(
    parts: Sequence[Trajectories], tensor_of: TensorOf, members: Sequence[int], device: torch.device
) -> torch.Tensor | None:
    """The rows (len(members), ...) of `members`, which are indices within the group, each copied to `device` once;
    `None` where a row is in none of `parts`."""
    runs, position = list[torch.Tensor](), 0
    while position < len(members):
        found = _run(parts, tensor_of, members[position:])
        if found is None:
            return None
        runs.append(found.to(device, copy=True))
        position += len(found)
    return runs[0] if len(runs) == 1 else torch.cat(runs)


def required_rows(
    parts: Sequence[Trajectories],
    tensor_of: TensorOf,
    members: Sequence[int],
    device: torch.device,
    *,
    group: int,
    what: str,
) -> torch.Tensor:
    """As `member_rows`, for rows that a pass cannot do without. Raises `ValueError`, which names them by `what` and
    `group`, where one is in none of `parts`."""
    rows = member_rows(parts, tensor_of, members, device)
    if rows is None:
        raise ValueError(f"{what} of members {members} of group {group} must be given, got no part with them")
    return rows


def _run(parts: Sequence[Trajectories], tensor_of: TensorOf, members: Sequence[int]) -> torch.Tensor | None:
    """As many rows of the first of `members` as follow each other in the part that holds the first of them."""
    for part in parts:
        tensor = tensor_of(part)
        if tensor is None or members[0] not in part.members:
            continue
        first = part.members.index(members[0])
        number = 1
        while number < len(members) and part.members[first + number : first + number + 1] == (members[number],):
            number += 1
        return tensor[first : first + number]
    return None
