"""Nothing that is NaN or infinite leaves a trainer: weights are judged where they lie before they are copied or
saved."""

from collections.abc import Mapping

import torch

from worker.engine.errors import NonFiniteError


def first_non_finite(tensors: Mapping[str, torch.Tensor]) -> str | None:
    """The name of a tensor that holds NaN or infinity, the first in order; `None` where all are finite.

    Judged on the tensors' devices; one number is fetched from each device, whatever the number of tensors.
    """
    floating = {name: tensor.detach() for name, tensor in tensors.items() if tensor.is_floating_point()}
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for tensor in floating.values():
        by_device.setdefault(tensor.device, []).append(torch.isfinite(tensor).all())
    if all(bool(torch.stack(are_finite).all()) for are_finite in by_device.values()):
        return None
    return next(name for name, tensor in floating.items() if not torch.isfinite(tensor).all())


def require_finite(what: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """Raises `NonFiniteError` that names `what` is not finite, which of `tensors` it is, and the value."""
    name = first_non_finite(tensors)
    if name is not None:
        values = tensors[name].detach().flatten()
        raise NonFiniteError(what, name, float(values[~torch.isfinite(values)][0]))
