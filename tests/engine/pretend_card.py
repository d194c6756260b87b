"""A device that computes on the CPU and is not the CPU: what mixes its tensors with the CPU's fails as on a card.

A process calls `pretend` before it makes its first tensor of the device; it cannot be undone, so tests run it in a
process of their own (`on_pretend_card`). Invariant: values are real, so helpers run from end to end; a tensor of the
device and one of the CPU with a dimension never meet in an operator other than a copy.
"""

import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from deepspeed.accelerator import get_accelerator, set_accelerator
from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from tests.engine.pretend_memory import (
    STREAMS,
    CardEvent,
    CardStorage,
    CardStream,
    PinnedMemory,
    is_not_waited_for,
    num_bytes_of,
)

NAME = "pretend"
DEVICE = f"{NAME}:0"
NUM_BYTES = 2**30
"""The device's memory: many times what a tiny model takes."""
_aten = torch.ops.aten
COPIES = {_aten.copy_.default, _aten._to_copy.default}
"""The operators that move tensors from one device to another."""
INDEXING = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
_PINNED = PinnedMemory()
_LIVE: dict[int, weakref.ref["CardTensor"]] = {}
"""The tensors of the device, by their ids."""


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
        key = id(made)
        _LIVE[key] = weakref.ref(made, lambda _: _LIVE.pop(key, None))
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

    def record_stream(self, stream: Any) -> None:
        """Memory is freed with its last tensor, whatever stream uses it: copies keep their own."""

    def untyped_storage(self) -> Any:
        return CardStorage(self.values.untyped_storage(), self.device)

    def set_(self, source: Any, *place: Any) -> torch.Tensor:
        assert isinstance(source, CardStorage) and not place, "only whole storages are looked at through a new tensor"
        return CardTensor(self.values.set_(source.memory))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Card(TorchDispatchMode):
    """Also carries out what makes tensors of the device from nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Constructors(TorchFunctionMode):
    """`torch.tensor`, and a list among indices, fill memory that they ask of the device themselves, below what `_Card`
    sees; and what is pinned is known here."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.is_pinned:
            return _PINNED.is_pinned(args[0])
        if func in INDEXING and isinstance(args[0], CardTensor):
            return func(args[0], _with_tensors(args[1]), *args[2:], **kwargs)
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
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass


class _Accelerator(CPU_Accelerator):
    """DeepSpeed's of the CPU, but for the device that it names and for streams, which a card has."""

    def device_name(self, device_index: int | None = None) -> str:
        return NAME if device_index is None else f"{NAME}:{device_index}"

    def current_device_name(self) -> str:
        return DEVICE

    def is_synchronized_device(self) -> bool:
        return False

    def Stream(self, *args: object, **kwargs: object) -> CardStream:  # noqa: N802 DeepSpeed calls it so
        return STREAMS.made()

    def Event(self, **kwargs: object) -> CardEvent:  # noqa: N802 DeepSpeed calls it so
        return CardEvent()

    def current_stream(self, device_index: int | None = None) -> CardStream:
        return STREAMS.current

    def synchronize(self, device_index: int | None = None) -> None:
        STREAMS.synchronize()

    def pin_memory(self, tensor: torch.Tensor, align_bytes: int = 1) -> torch.Tensor:
        return _PINNED.pinned(tensor)

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        return _PINNED.is_pinned(tensor)

    def max_memory_allocated(self, device_index: int | None = None) -> int:
        """What is held now: a peak is not known."""
        return self.memory_allocated()

    def memory_allocated(self, device_index: int | None = None) -> int:
        live = [tensor for each in list(_LIVE.values()) if (tensor := each()) is not None]
        return num_bytes_of(tensor.values for tensor in live)

    def stream(self, stream: CardStream) -> AbstractContextManager[CardStream]:
        return STREAMS.entered(stream)


class _Generator(torch.Generator):
    """One of the device is one of the CPU, on which its operators run."""

    def __new__(cls, device: Any = "cpu") -> "_Generator":
        return super().__new__(cls, "cpu" if torch.device(device).type == NAME else device)


def _memory_info(device: object = None) -> tuple[int, int]:
    """Free and all bytes, as `torch.accelerator.get_memory_info`."""
    return NUM_BYTES - get_accelerator().memory_allocated(), NUM_BYTES


@contextmanager
def pretend() -> Iterator[torch.device]:
    """Within it the accelerator is the pretended device."""
    _setup_privateuseone_for_python_backend(rename=NAME, backend_module=_Module())
    before = get_accelerator()
    set_accelerator(_Accelerator())
    try:
        # In this thread alone are the modes below entered.
        with ExitStack() as stack:
            stack.enter_context(patch.object(torch, "Generator", _Generator))
            stack.enter_context(patch.object(torch.accelerator, "get_memory_info", _memory_info))
            stack.enter_context(torch.autograd.set_multithreading_enabled(False))
            stack.enter_context(_Card())
            stack.enter_context(_Constructors())
            yield torch.device(DEVICE)
    finally:
        set_accelerator(before)


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    on_card = [isinstance(each, CardTensor) for each in tensors]
    # In inference mode `to` comes here whole, with the device at its place.
    is_copy = func in COPIES or func.overloadpacket is _aten.to
    if not is_copy and any(on_card):
        _refuse_cpu(func, [each for each, is_card in zip(tensors, on_card, strict=True) if not is_card])
    asked = kwargs.get("device", next((each for each in args if isinstance(each, torch.device)), None))
    makes_card = any(on_card) if asked is None else torch.device(asked).type == NAME
    if func is _aten.copy_.default:
        makes_card = on_card[0]
        if not makes_card and _PINNED.is_pinned(tensors[0]) and is_not_waited_for(args, kwargs):
            STREAMS.current.begin_copy(tensors[0], _on_cpu(tensors[1]))
            return tensors[0]
    if any(on_card) and (func is _aten._local_scalar_dense.default or (is_copy and not makes_card)):
        STREAMS.current.synchronize()
    result = func(*_on_cpu(args), **_on_cpu(kwargs))
    if not makes_card:
        return result
    # An operator in place returns its argument.
    known = {id(each.values): each for each in tensors if isinstance(each, CardTensor)}
    return tree_map(lambda each: _card_tensor(each, known) if _is_plain(each) else each, result)


def _with_tensors(index: Any) -> Any:
    """An index whose lists of rows are tensors of the device."""
    if isinstance(index, list):
        return torch.tensor(index).to(DEVICE)
    return tuple(_with_tensors(each) for each in index) if isinstance(index, tuple) else index


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
