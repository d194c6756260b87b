"""A device that computes on the CPU and is not the CPU: what mixes its tensors with the CPU's fails as on a card.

A process calls `pretend` before it makes its first tensor of the device; it cannot be undone, so tests run it in a
process of their own (`on_pretend_card`). Invariant: values are real, so helpers run from end to end; a tensor of the
device and one of the CPU with a dimension never meet in an operator other than a copy.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator, set_accelerator
from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
DEVICE = f"{NAME}:0"
_aten = torch.ops.aten
COPIES = {_aten.copy_.default, _aten._to_copy.default}
"""The operators that move tensors from one device to another."""


class CardTensor(torch.Tensor):
    """A tensor of the device, with its values in a tensor of the CPU."""

    values: torch.Tensor

    @staticmethod
    def __new__(cls, values: torch.Tensor) -> "CardTensor":
        made: CardTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            values.shape,
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=torch.device(DEVICE),
        )
        made.values = values
        return made

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"CardTensor({self.values})"

    @property
    def data(self) -> torch.Tensor:
        return self.detach()

    @data.setter
    def data(self, other: torch.Tensor) -> None:
        torch.Tensor.data.__set__(self, other)
        self.values = other.values if isinstance(other, CardTensor) else other

    def new_tensor(self, data: Any, **options: Any) -> torch.Tensor:
        return torch.tensor(data, **{"dtype": self.dtype, "device": self.device, **options})

    def tolist(self) -> Any:
        return self.values.tolist()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Card(TorchDispatchMode):
    """Also carries out what makes tensors of the device from nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Constructors(TorchFunctionMode):
    """`torch.tensor` fills memory that it asks of the device itself, below what `_Card` sees."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        device = kwargs.get("device")
        if func not in (torch.tensor, torch.as_tensor) or device is None or torch.device(device).type != NAME:
            return func(*args, **kwargs)
        return func(*args, **{**kwargs, "device": "cpu"}).to(device)


class _Module:
    """What `torch.get_device_module` finds."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def is_initialized() -> bool:
        return True

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def get_device_name(device: object = None) -> str:
        return "Pretend Card 0"

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass


class _Accelerator(CPU_Accelerator):
    """DeepSpeed's of the CPU, but for the device that it names and for streams, which a card has."""

    def device_name(self, device_index: int | None = None) -> str:
        return NAME if device_index is None else f"{NAME}:{device_index}"

    def current_device_name(self) -> str:
        return DEVICE

    def Stream(self, *args: object, **kwargs: object) -> object:  # noqa: N802 DeepSpeed calls it so
        return SimpleNamespace(synchronize=lambda: None, wait_stream=lambda _: None)

    def current_stream(self, device_index: int | None = None) -> object:
        return SimpleNamespace(synchronize=lambda: None, wait_stream=lambda _: None)

    def stream(self, stream: object) -> AbstractContextManager[None]:
        return nullcontext()


@contextmanager
def pretend() -> Iterator[torch.device]:
    """Within it the accelerator is the pretended device."""
    _setup_privateuseone_for_python_backend(rename=NAME, backend_module=_Module())
    before = get_accelerator()
    set_accelerator(_Accelerator())
    try:
        with _Card(), _Constructors():
            yield torch.device(DEVICE)
    finally:
        set_accelerator(before)


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    on_card = [isinstance(each, CardTensor) for each in tensors]
    if func not in COPIES and any(on_card):
        _refuse_cpu(func, [each for each, is_card in zip(tensors, on_card, strict=True) if not is_card])
    asked = kwargs.get("device")
    makes_card = any(on_card) if asked is None else torch.device(asked).type == NAME
    if func is _aten.copy_.default:
        makes_card = on_card[0]
    result = func(*_on_cpu(args), **_on_cpu(kwargs))
    if not makes_card:
        return result
    # An operator in place returns its argument.
    known = {id(each.values): each for each in tensors if isinstance(each, CardTensor)}
    return tree_map(lambda each: _card_tensor(each, known) if _is_plain(each) else each, result)


def _refuse_cpu(func: Any, others: list[torch.Tensor]) -> None:
    """As torch does: a CPU tensor without dimensions counts as a number."""
    wrong = next((each for each in others if each.dim()), None)
    if wrong is not None:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {DEVICE} and cpu! "
            f"({func}, a tensor of {tuple(wrong.shape)})"
        )


def _card_tensor(values: torch.Tensor, known: dict[int, CardTensor]) -> CardTensor:
    if (found := known.get(id(values))) is not None:
        return found
    # In inference mode too, a view of a tensor from outside is one that autograd may record.
    with torch.inference_mode(values.is_inference()):
        return CardTensor(values)


def _is_plain(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not isinstance(value, CardTensor)


def _on_cpu(tree: Any) -> Any:
    def one(each: Any) -> Any:
        if isinstance(each, CardTensor):
            return each.values
        is_card = isinstance(each, torch.device) and each.type == NAME
        return torch.device("cpu") if is_card else each

    return tree_map(one, tree)
