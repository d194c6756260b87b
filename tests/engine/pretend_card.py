"""Devices that compute on the CPU and are not the CPU: what mixes their tensors with the CPU's fails as on a card.

A process calls `pretend` before it makes its first tensor of the device; it cannot be undone, so tests run it in a
process of their own (`on_pretend_card`). Invariant: values are real, so helpers run from end to end; tensors with a
dimension of two devices, of which one may be the CPU, never meet in an operator other than a copy.
"""

import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import Any
from unittest.mock import patch

import torch
from deepspeed.accelerator import get_accelerator, set_accelerator
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from tests.engine.pretend_accelerator import (
    MEMORY,
    NAME,
    PINNED,
    Accelerator,
    Generator,
    Module,
    current_card,
    memory_info,
)
from tests.engine.pretend_autocast import autocast_on_cards
from tests.engine.pretend_memory import STREAMS, CardStorage, is_not_waited_for

_aten = torch.ops.aten
COPIES = {_aten.copy_.default, _aten._to_copy.default}
"""The operators that move tensors from one device to another."""
INDEXING = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
SET_DATA = torch.Tensor.data.__set__
_LIVE: dict[int, weakref.ref["CardTensor"]] = {}
"""The tensors of all cards, by their ids."""


class CardTensor(torch.Tensor):
    """A tensor of the device, with its values in a tensor of the CPU."""

    values: torch.Tensor

    @staticmethod
    def __new__(cls, values: torch.Tensor, card: torch.device) -> "CardTensor":
        made: CardTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            values.shape,
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=card,
        )
        made.values = values
        made.hold()
        return made

    def hold(self) -> None:
        """Count the memory of the values as the card's, for as long as this lives."""
        key = id(self)
        MEMORY.hold(key, self.values.untyped_storage(), self.device)
        if key not in _LIVE:
            _LIVE[key] = weakref.ref(self, lambda _: _forget(key))

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"CardTensor({self.values})"

    @property
    def data(self) -> torch.Tensor:
        return self.detach()

    @data.setter
    def data(self, other: torch.Tensor) -> None:
        if not isinstance(other, CardTensor):
            _become(self, other)
            return
        torch.Tensor.data.__set__(self, other)
        self.values = other.values
        self.hold()

    def new_tensor(self, data: Any, **options: Any) -> torch.Tensor:
        return torch.tensor(data, **{"dtype": self.dtype, "device": self.device, **options})

    def tolist(self) -> Any:
        return self.values.tolist()

    def record_stream(self, stream: Any) -> None:
        """Memory is freed with its last tensor, whatever stream uses it: copies keep their own."""

    def untyped_storage(self) -> Any:
        return CardStorage(self.values.untyped_storage(), self.device, MEMORY)

    def set_(self, source: Any, *place: Any) -> torch.Tensor:
        assert isinstance(source, CardStorage) and not place, "only whole storages are looked at through a new tensor"
        return CardTensor(self.values.set_(source.memory), source.device)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Card(TorchDispatchMode):
    """Also carries out what makes tensors of the device from nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Constructors(TorchFunctionMode):
    """What does its work below what `_Card` sees: `torch.tensor`, and a list among indices, fill memory that they ask
    the device for, and `data` gives a tensor the memory of another device. And what is pinned is known here."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.is_pinned:
            return PINNED.is_pinned(args[0])
        if func in INDEXING and isinstance(args[0], CardTensor):
            return func(args[0], _with_tensors(args[1], args[0].device), *args[2:], **kwargs)
        if func == SET_DATA and isinstance(args[1], CardTensor) and not isinstance(args[0], CardTensor):
            return _become(*args)
        device = kwargs.get("device")
        if func not in (torch.tensor, torch.as_tensor) or device is None or torch.device(device).type != NAME:
            return func(*args, **kwargs)
        return func(*args, **{**kwargs, "device": "cpu"}).to(device)


@contextmanager
def pretend() -> Iterator[torch.device]:
    """Within it the accelerators are the pretended cards; the first one is current."""
    _setup_privateuseone_for_python_backend(rename=NAME, backend_module=Module())
    before = get_accelerator()
    set_accelerator(Accelerator())
    autocast_on_cards()
    try:
        with ExitStack() as stack:
            stack.enter_context(patch.object(torch, "Generator", Generator))
            stack.enter_context(patch.object(torch.accelerator, "get_memory_info", memory_info))
            stack.enter_context(patch.object(Thread, "run", _with_modes(Thread.run)))
            stack.enter_context(torch.autograd.set_multithreading_enabled(False))
            stack.enter_context(_Card())
            stack.enter_context(_Constructors())
            yield current_card()
    finally:
        set_accelerator(before)


def _with_modes(run: Callable[[Thread], None]) -> Callable[[Thread], None]:
    """`Thread.run`, in which the modes are entered too: each thread has its own."""

    def entered(thread: Thread) -> None:
        with _Card(), _Constructors():
            run(thread)

    return entered


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors: list[torch.Tensor] = []
    plain_args, plain_kwargs = _on_cpu(args, tensors), _on_cpu(kwargs, tensors)
    on_card = [each for each in tensors if isinstance(each, CardTensor)]
    # In inference mode `to` comes here whole, with the device at its place.
    is_copy = func in COPIES or func.overloadpacket is _aten.to
    if not is_copy and on_card:
        _refuse_others(func, tensors, on_card)
    asked = kwargs.get("device", next((each for each in args if isinstance(each, torch.device)), None))
    card = on_card[0].device if on_card and asked is None else _card(asked)
    if func is _aten.copy_.default:
        target = tensors[0]
        card = target.device if isinstance(target, CardTensor) else None
        if card is None and on_card and PINNED.is_pinned(target) and is_not_waited_for(args, kwargs):
            STREAMS.current.begin_copy(target, plain_args[1])
            return target
    if on_card and (func is _aten._local_scalar_dense.default or (is_copy and card is None)):
        STREAMS.current.synchronize()
    result = func(*plain_args, **plain_kwargs)
    if card is None:
        return result
    # An operator in place returns its argument.
    known = {id(each.values): each for each in on_card}
    return _on_card(result, card, known)


def _card(asked: Any) -> torch.device | None:
    """The card that `asked`, a device as an operator gets it, is."""
    device = None if asked is None else torch.device(asked)
    if device is None or device.type != NAME:
        return None
    return current_card() if device.index is None else device


def _refuse_others(func: Any, tensors: list[torch.Tensor], on_card: list[CardTensor]) -> None:
    """As torch does: a CPU tensor without dimensions counts as a number."""
    card = next((each for each in on_card if each.dim()), on_card[0]).device
    wrong = next((each for each in tensors if each.dim() and each.device != card), None)
    if wrong is not None:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {card} and "
            f"{wrong.device}! ({func}, a tensor of {tuple(wrong.shape)})"
        )


def _become(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Give `tensor`, which stays the same object, the memory of `other`, which is on another device."""
    alias: torch.Tensor = torch.nn.Parameter(other.detach(), requires_grad=tensor.requires_grad)
    own = {name: value for name, value in vars(tensor).items() if name != "values"}
    for each in (tensor, alias):
        _forget(id(each))
    torch.utils.swap_tensors(tensor, alias)
    vars(tensor).update(own)
    if isinstance(tensor, CardTensor):
        tensor.hold()


def _forget(key: int) -> None:
    MEMORY.release(key)
    _LIVE.pop(key, None)


def _with_tensors(index: Any, card: torch.device) -> Any:
    """An index whose lists of rows are tensors of the device."""
    if isinstance(index, list):
        return torch.tensor(index).to(card)
    return tuple(_with_tensors(each, card) for each in index) if isinstance(index, tuple) else index


def _on_card(result: Any, card: torch.device, known: dict[int, CardTensor]) -> Any:
    """The result of an operator, with tensors of the card for those that it made."""
    if isinstance(result, list | tuple):
        return type(result)(_on_card(each, card, known) for each in result)
    if not isinstance(result, torch.Tensor) or isinstance(result, CardTensor):
        return result
    if (found := known.get(id(result))) is not None:
        return found
    # In inference mode too, a view of a tensor from outside is one that autograd may record.
    with torch.inference_mode(result.is_inference()):
        return CardTensor(result, card)


def _on_cpu(value: Any, tensors: list[torch.Tensor]) -> Any:
    """An argument as the CPU gets it; its tensors are added to `tensors`."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return value.values if isinstance(value, CardTensor) else value
    if isinstance(value, list | tuple):
        return type(value)(_on_cpu(each, tensors) for each in value) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {name: _on_cpu(each, tensors) for name, each in value.items()}
    is_card = isinstance(value, torch.device) and value.type == NAME
    return torch.device("cpu") if is_card else value
