"""Autocast on the pretended cards, as on NVIDIA's: the operators that it casts for are read from torch's own header.

Casts are not cached as torch does with those of weights, which changes nothing but the number of copies.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tests.engine.pretend_accelerator import NAME

HEADER = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
KEY = "AutocastPrivateUse1"
_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
Kernel = Callable[..., Any]


@cache
def autocast_on_cards() -> tuple[torch.library.Library, ...]:
    """Register it, once in a process; what is returned must be kept."""
    operators, others = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, KEY)
    for macro, kernel in (("LOWER_PRECISION_FP", _lowered), ("FP32", _raised), ("FP32_SET_OPT_DTYPE", _summed)):
        for name in listed(macro):
            operators.impl(name, kernel(_operator(name)), KEY)
    for name in listed("PROMOTE"):
        operators.impl(name, _promoted(_operator(name)), KEY)
    return operators, others


def listed(macro: str) -> list[str]:
    """The operators that `AT_FORALL_<macro>` names, with their overloads."""
    text = re.search(rf"#define AT_FORALL_{macro}\(_\)((?:.*\\\n)*.*)", HEADER.read_text())
    assert text is not None
    found = re.findall(r"_\((\w+)(?:, (\w+))?\)", text[1])
    return [f"{name}.{overload}" if overload else name for name, overload in found]


def _operator(name: str) -> Kernel:
    operator, _, overload = name.partition(".")
    kernel: Kernel = getattr(getattr(torch.ops.aten, operator), overload or "default")
    return kernel


def _lowered(operator: Kernel) -> Kernel:
    return lambda *args, **kwargs: _called(operator, torch.get_autocast_dtype(NAME), args, kwargs)


def _raised(operator: Kernel) -> Kernel:
    return lambda *args, **kwargs: _called(operator, torch.float32, args, kwargs)


def _summed(operator: Kernel) -> Kernel:
    """The result is in fp32, unless the caller asks for a dtype."""

    def kernel(first: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _is_eligible(first) and kwargs.get("dtype") is None:
            kwargs["dtype"] = torch.float32
        return _called(operator, None, (first, *args), kwargs)

    return kernel


def _promoted(operator: Kernel) -> Kernel:
    """All tensors in the widest dtype that one of them has."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        flat = [each for value in args for each in (value if isinstance(value, list | tuple) else [value])]
        dtypes = {each.dtype for each in flat if _is_eligible(each)}
        widest = torch.float32 if torch.float32 in dtypes else torch.get_autocast_dtype(NAME)
        return _called(operator, widest, args, kwargs)

    return kernel


def _called(operator: Kernel, dtype: torch.dtype | None, args: Any, kwargs: Any) -> Any:
    with torch._C._ExcludeDispatchKeyGuard(_KEYS):
        if dtype is None:
            return operator(*args, **kwargs)
        named = {name: _cast(value, dtype) for name, value in kwargs.items()}
        return operator(*(_cast(value, dtype) for value in args), **named)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return [_cast(each, dtype) for each in value]
    return value.to(dtype) if _is_eligible(value) else value


def _is_eligible(value: object) -> bool:
    """Floating-point tensors of the device, but for float64."""
    is_cards = isinstance(value, torch.Tensor) and value.device.type == NAME
    return is_cards and value.is_floating_point() and value.dtype is not torch.float64  # type: ignore[attr-defined]
