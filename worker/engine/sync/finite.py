"""Checks that tensors are finite. Invariant: no NaN or infinity is published or saved."""

from collections.abc import Mapping

import torch

from worker.engine.errors import NonFiniteError


def first_non_finite(tensors: Mapping[str, torch.Tensor]) -> str | None:
    """The name of the first tensor that holds NaN or infinity; `None` where all are finite.

    The check runs on the tensors' devices and fetches one number from each, whatever the number of tensors.
    """
    floating = {name: tensor.detach() for name, tensor in tensors.items() if tensor.is_floating_point()}
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for tensor in floating.values():
        by_device.setdefault(tensor.device, []).append(torch.isfinite(tensor).all())
    if all(bool(torch.stack(are_finite).all()) for are_finite in by_device.values()):
        return None
    return next(name for name, tensor in floating.items() if not torch.isfinite(tensor).all())


def require_finite(what: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """Raise `NonFiniteError` when one of `tensors` holds NaN or infinity; `what` names the quantity, e.g. `weights`."""
    name = first_non_finite(tensors)
    if name is not None:
        values = tensors[name].detach().flatten()
        raise NonFiniteError(what, name, float(values[~torch.isfinite(values)][0]))
