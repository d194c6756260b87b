# ruff: noqa: N802, N803 — functions and arguments are called as in `pynvml`
"""Takes the place of the module `pynvml` where there is no driver.

Constants, errors and structures are those of the real module; functions have its signatures, which
`test_nvml_names.py` compares.
"""

import ctypes
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar, cast

import pynvml

from worker.contracts.node_reports import GpuReport

F = TypeVar("F", bound=Callable[..., Any])
GIB = 1024**3


@dataclass(eq=False)
class FakeCard:
    """A card, or a MIG slice of one; a handle is the object itself."""

    uuid: str
    bus_id: str = "00000000:1B:00.0"
    name: str = "NVIDIA H100 80GB HBM3"
    memory_bytes: int = 80 * GIB
    memory_used: int = 3 * GIB
    is_lost: bool = False
    slices: list["FakeCard"] | None = None
    """Of a card in MIG mode."""
    is_slice: bool = False
    num_links: int = 18
    num_links_down: int = 0
    remapped: tuple[int, int, int, int] | None = (0, 0, 0, 0)
    """Rows; `None` on cards without spare ones."""
    retired: tuple[int, int] | None = None
    """Pages by cause, on cards without spare rows."""
    are_pages_pending: bool = False
    clocks_event_reasons: int = 0
    fields: dict[int, tuple[int, str, int]] = field(default_factory=dict)
    """By field: type of the value, member of the union, value."""
    xids: deque[int] = field(default_factory=deque)
    refused: dict[str, int] = field(default_factory=dict)
    """Error codes by the functions that answer with them."""


@dataclass(eq=False)
class FakeEventSet:
    cards: list[FakeCard] = field(default_factory=list)
    is_dead: bool = False
    """Its card was lost: the set does not come back with it."""


def driver_function(function: F) -> F:
    """Refuses what the driver would: before it is opened, for lost cards, and what a test has it refuse."""
    name = function.__name__

    @wraps(function)
    def answer(fake: "FakeNvml", *arguments: Any, **named: Any) -> Any:
        fake.num_calls[name] += 1
        if not fake.is_open and name not in ("nvmlInit",):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_UNINITIALIZED)
        if name in fake.refused:
            raise pynvml.NVMLError(fake.refused[name])
        for card in (argument for argument in arguments if isinstance(argument, FakeCard)):
            if card.is_lost:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            if name in card.refused:
                raise pynvml.NVMLError(card.refused[name])
        return function(fake, *arguments, **named)

    return cast(F, answer)


NOT_SUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED


class FakeNvml:
    def __init__(self, cards: list[FakeCard]) -> None:
        self.cards = cards
        self.refused: dict[str, int] = {}
        self.num_calls: defaultdict[str, int] = defaultdict(int)
        self.is_open = False
        self.num_event_sets = 0
        """That were made and not freed."""
        self.listed: list[FakeCard] = []
        """As NVML found them when it was opened."""
        self.now_us = 1_000_000

    def __getattr__(self, name: str) -> Any:
        """Constants and types of the real module; no function of its."""
        value = getattr(pynvml, name)
        if callable(value) and not isinstance(value, type):
            raise AttributeError(f"{name} is not faked")
        return value

    @driver_function
    def nvmlInit(self) -> None:
        self.is_open, self.listed = True, list(self.cards)

    @driver_function
    def nvmlShutdown(self) -> None:
        self.is_open = False

    @driver_function
    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.95.05"

    @driver_function
    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return 13000

    @driver_function
    def nvmlDeviceGetCount(self) -> int:
        return len(self.listed)

    @driver_function
    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeCard:
        card = self.listed[index]
        if card.is_lost:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        if (code := card.refused.get("nvmlDeviceGetHandleByIndex")) is not None:
            raise pynvml.NVMLError(code)
        return card

    @driver_function
    def nvmlDeviceGetUUID(self, handle: FakeCard) -> str:
        return handle.uuid

    @driver_function
    def nvmlDeviceGetMigMode(self, device: FakeCard) -> list[int]:
        return [int(device.slices is not None), int(device.slices is not None)]

    @driver_function
    def nvmlDeviceGetMaxMigDeviceCount(self, device: FakeCard) -> int:
        return 7

    @driver_function
    def nvmlDeviceGetMigDeviceHandleByIndex(self, device: FakeCard, index: int) -> FakeCard:
        if device.slices is None or index >= len(device.slices):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return device.slices[index]

    # --- events -------------------------------------------------------------------------------------------------------

    @driver_function
    def nvmlEventSetCreate(self) -> FakeEventSet:
        self.num_event_sets += 1
        return FakeEventSet()

    @driver_function
    def nvmlDeviceRegisterEvents(self, handle: FakeCard, eventTypes: int, eventSet: FakeEventSet) -> None:
        assert eventTypes == pynvml.nvmlEventTypeXidCriticalError
        assert not handle.is_slice
        eventSet.cards.append(handle)

    @driver_function
    def nvmlEventSetWait_v2(self, eventSet: FakeEventSet, timeoutms: int) -> Any:
        if eventSet.is_dead:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_UNKNOWN)
        for card in eventSet.cards:
            if card.xids:
                event = pynvml.c_nvmlEventData_t()
                event.eventType = pynvml.nvmlEventTypeXidCriticalError
                event.eventData = card.xids.popleft()
                return event
            if card.is_lost:
                eventSet.is_dead = True
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        raise pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)

    @driver_function
    def nvmlEventSetFree(self, eventSet: FakeEventSet) -> None:
        self.num_event_sets -= 1
        eventSet.cards.clear()

    # --- identity -----------------------------------------------------------------------------------------------------

    @driver_function
    def nvmlDeviceGetName(self, handle: FakeCard) -> str:
        return handle.name

    @driver_function
    def nvmlDeviceGetMemoryInfo(self, handle: FakeCard, version: int | None = None) -> Any:
        memory = pynvml.c_nvmlMemory_v2_t() if version else pynvml.c_nvmlMemory_t()
        if version:
            assert version == pynvml.nvmlMemory_v2
            memory.reserved = GIB // 2
        memory.total = handle.memory_bytes
        memory.used = handle.memory_used + (0 if version else GIB // 2)
        return memory

    @driver_function
    def nvmlDeviceGetPciInfo(self, handle: FakeCard) -> Any:
        info = pynvml.nvmlPciInfo_t()
        info.busId = handle.bus_id
        return info

    @driver_function
    def nvmlDeviceGetCudaComputeCapability(self, handle: FakeCard) -> tuple[int, int]:
        return (9, 0)

    @driver_function
    def nvmlDeviceGetArchitecture(self, device: FakeCard) -> int:
        return cast(int, pynvml.NVML_DEVICE_ARCH_HOPPER)

    @driver_function
    def nvmlDeviceGetMemoryAffinity(self, handle: FakeCard, nodeSetSize: int, scope: int) -> Any:
        assert scope == pynvml.NVML_AFFINITY_SCOPE_NODE
        return (ctypes.c_ulonglong * nodeSetSize)(0b10)

    @driver_function
    def nvmlDeviceGetNvLinkState(self, device: FakeCard, link: int) -> int:
        if device.num_links == 0:
            raise pynvml.NVMLError(NOT_SUPPORTED)
        if link >= device.num_links:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return int(link >= device.num_links_down)

    @driver_function
    def nvmlDeviceGetP2PStatus(self, device1: FakeCard, device2: FakeCard, p2pIndex: int) -> int:
        assert p2pIndex == pynvml.NVML_P2P_CAPS_INDEX_NVLINK
        is_linked = device1.num_links and device2.num_links
        return cast(int, pynvml.NVML_P2P_STATUS_OK if is_linked else pynvml.NVML_P2P_STATUS_NOT_SUPPORTED)

    # --- live values --------------------------------------------------------------------------------------------------

    @driver_function
    def nvmlDeviceGetUtilizationRates(self, handle: FakeCard) -> Any:
        if handle.is_slice:
            raise pynvml.NVMLError(NOT_SUPPORTED)
        rates = pynvml.c_nvmlUtilization_t()
        rates.gpu, rates.memory = 97, 40
        return rates

    @driver_function
    def nvmlDeviceGetComputeRunningProcesses(self, handle: FakeCard) -> list[Any]:
        return [pynvml.c_nvmlProcessInfo_v3_t()]

    @driver_function
    def nvmlDeviceGetTemperatureV(self, handle: FakeCard, sensor: int, version: int = pynvml.nvmlTemperature_v1) -> int:
        return 61

    @driver_function
    def nvmlDeviceGetTemperature(self, handle: FakeCard, sensor: int) -> int:
        return 61

    @driver_function
    def nvmlDeviceGetPowerUsage(self, handle: FakeCard) -> int:
        return 651_250

    @driver_function
    def nvmlDeviceGetEnforcedPowerLimit(self, handle: FakeCard) -> int:
        return 700_000

    @driver_function
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: FakeCard) -> int:
        return 12_345_678

    @driver_function
    def nvmlDeviceGetClockInfo(self, handle: FakeCard, type: int) -> int:
        return {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 2619}[type]

    @driver_function
    def nvmlDeviceGetMaxClockInfo(self, handle: FakeCard, type: int) -> int:
        return {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 2619}[type]

    @driver_function
    def nvmlDeviceGetFieldValues(self, handle: FakeCard, fieldIds: list[Any]) -> Any:
        values = (pynvml.c_nvmlFieldValue_t * len(fieldIds))()
        for value, asked in zip(values, fieldIds, strict=True):
            value.fieldId = asked[0] if isinstance(asked, tuple) else asked
            value.scopeId = asked[1] if isinstance(asked, tuple) else 0
            value.timestamp = self.now_us
            if value.fieldId in handle.fields:
                value.valueType, member, number = handle.fields[value.fieldId]
                setattr(value.value, member, number)
            else:
                value.nvmlReturn = NOT_SUPPORTED
        return values

    # --- faults -------------------------------------------------------------------------------------------------------

    @driver_function
    def nvmlDeviceGetTotalEccErrors(self, handle: FakeCard, errorType: int, counterType: int) -> int:
        assert counterType == pynvml.NVML_VOLATILE_ECC
        return {pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED: 5, pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED: 1}[errorType]

    @driver_function
    def nvmlDeviceGetRemappedRows(self, device: FakeCard) -> tuple[int, int, int, int]:
        if device.remapped is None:
            raise pynvml.NVMLError(NOT_SUPPORTED)
        return device.remapped

    @driver_function
    def nvmlDeviceGetRetiredPages(self, device: FakeCard, sourceFilter: int) -> list[int]:
        if device.retired is None:
            raise pynvml.NVMLError(NOT_SUPPORTED)
        return [0x1000] * device.retired[sourceFilter]

    @driver_function
    def nvmlDeviceGetRetiredPagesPendingStatus(self, device: FakeCard) -> int:
        if device.retired is None:
            raise pynvml.NVMLError(NOT_SUPPORTED)
        return int(device.are_pages_pending)

    @driver_function
    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: FakeCard) -> int:
        return handle.clocks_event_reasons

    @driver_function
    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: FakeCard) -> int:
        return handle.clocks_event_reasons

    @driver_function
    def nvmlDeviceGetPcieReplayCounter(self, handle: FakeCard) -> int:
        return 2


def functions_of(fake: type) -> Iterator[str]:
    """The driver's functions that the class has."""
    return (name for name in vars(fake) if name.startswith(("nvml", "amdsmi")))


def h100s(number: int = 4) -> list[FakeCard]:
    """Cards of one board, linked with each other."""
    return [FakeCard(f"GPU-{index}", bus_id=f"00000000:{0x1B + index:02X}:00.0") for index in range(number)]


def sliced(number: int) -> FakeCard:
    """A card cut into so many slices."""
    card = FakeCard("GPU-0", slices=[])
    card.slices = [
        FakeCard(
            f"MIG-{index}",
            name="NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            memory_bytes=10 * GIB,
            memory_used=0,
            is_slice=True,
        )
        for index in range(number)
    ]
    return card


def by_uuid(reports: tuple[GpuReport, ...]) -> dict[str, GpuReport]:
    """A reading, by the UUIDs of its cards."""
    return {report.identity.uuid: report for report in reports}
