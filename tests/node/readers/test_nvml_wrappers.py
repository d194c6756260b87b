# ruff: noqa: N802 — functions are called as in the library
"""The NVML reader on the real `pynvml`, with the driver's shared library emulated below it: what `pynvml` itself does
with arguments and structures is right too."""

import ctypes
from collections.abc import Callable
from typing import Any

import pynvml
import pytest

from worker.node.readers.nvml import NvmlReader

GIB = 1024**3
NUMBER_OF_LINKS = 18


class EmulatedLibrary:
    """Has a function for every name; those without one here answer "not supported". Arguments come as from `ctypes`."""

    def __init__(self) -> None:
        self.cards = [pynvml.struct_c_nvmlDevice_t() for _ in range(2)]
        self.num_unsupported = 0
        self.kib = 1000
        self.xids = [48]

    def __getattr__(self, name: str) -> Callable[..., int]:
        implementation = getattr(type(self), f"_{name}", None)

        def function(*arguments: Any) -> int:
            if implementation is None:
                self.num_unsupported += 1
                return int(pynvml.NVML_ERROR_NOT_SUPPORTED)
            # What is passed by reference is filled in.
            return implementation(self, *(getattr(each, "_obj", each) for each in arguments)) or 0

        return function

    def number(self, handle: Any) -> int:
        addresses = [ctypes.addressof(card) for card in self.cards]
        return addresses.index(ctypes.addressof(handle.contents))

    def _nvmlInitWithFlags(self, flags: int) -> None: ...

    def _nvmlShutdown(self) -> None: ...

    def _nvmlSystemGetDriverVersion(self, text: Any, size: Any) -> None:
        text.value = b"580.95.05"

    def _nvmlSystemGetCudaDriverVersion_v2(self, number: Any) -> None:
        number.value = 13000

    def _nvmlDeviceGetCount_v2(self, count: Any) -> None:
        count.value = len(self.cards)

    def _nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> None:
        handle.contents = self.cards[index.value]

    def _nvmlDeviceGetUUID(self, handle: Any, text: Any, size: Any) -> None:
        text.value = f"GPU-{self.number(handle)}".encode()

    def _nvmlDeviceGetName(self, handle: Any, text: Any, size: Any) -> None:
        text.value = b"NVIDIA H100 80GB HBM3"

    def _nvmlDeviceGetPciInfo_v3(self, handle: Any, info: Any) -> None:
        info.busId = b"00000000:1B:00.0"

    def _nvmlDeviceGetMemoryInfo_v2(self, handle: Any, memory: Any) -> int | None:
        if memory.version != pynvml.nvmlMemory_v2:
            return int(pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
        memory.total, memory.used, memory.reserved = 80 * GIB, GIB, GIB // 2
        return None

    def _nvmlDeviceGetMemoryAffinity(self, handle: Any, size: int, words: Any, scope: Any) -> None:
        words[size - 1] = 0
        words[0] = 2

    def _nvmlDeviceGetNvLinkState(self, handle: Any, link: int, is_active: Any) -> int | None:
        if link >= NUMBER_OF_LINKS:
            return int(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        is_active.value = 1
        return None

    def _nvmlDeviceGetP2PStatus(self, first: Any, second: Any, index: int, status: Any) -> int | None:
        status.value = pynvml.NVML_P2P_STATUS_OK
        return None

    def _nvmlDeviceGetTemperatureV(self, handle: Any, temperature: Any) -> None:
        assert temperature.sensorType == pynvml.NVML_TEMPERATURE_GPU
        temperature.temperature = 61

    def _nvmlDeviceGetUtilizationRates(self, handle: Any, rates: Any) -> None:
        rates.gpu = 97

    def _nvmlDeviceGetComputeRunningProcesses_v3(self, handle: Any, count: Any, processes: Any) -> int | None:
        count.value = 2
        return int(pynvml.NVML_ERROR_INSUFFICIENT_SIZE) if processes is None else None

    def _nvmlDeviceGetRemappedRows(self, handle: Any, *numbers: Any) -> None:
        corrected, uncorrected, is_pending, has_failed = numbers
        corrected.value, uncorrected.value, is_pending.value, has_failed.value = 7, 3, 0, 1

    def _nvmlDeviceGetCurrentClocksEventReasons(self, handle: Any, reasons: Any) -> None:
        reasons.value = pynvml.nvmlClocksEventReasonHwThermalSlowdown

    def _nvmlDeviceGetFieldValues(self, handle: Any, count: Any, values: Any) -> None:
        links = (pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX)
        self.kib += 500
        for value in values:
            value.timestamp = self.kib * 1000
            if value.fieldId == pynvml.NVML_FI_DEV_MEMORY_TEMP:
                value.valueType, value.value.uiVal = pynvml.NVML_VALUE_TYPE_UNSIGNED_INT, 72
            elif value.fieldId in links and value.scopeId == 0xFFFF_FFFF:
                value.valueType, value.value.ullVal = pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, self.kib
            else:
                value.nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED

    def _nvmlEventSetCreate(self, events: Any) -> None: ...

    def _nvmlEventSetFree(self, events: Any) -> None: ...

    def _nvmlDeviceRegisterEvents(self, handle: Any, types: Any, events: Any) -> None:
        assert types.value == pynvml.nvmlEventTypeXidCriticalError

    def _nvmlEventSetWait_v2(self, events: Any, data: Any, timeout: Any) -> int | None:
        if not self.xids:
            return int(pynvml.NVML_ERROR_TIMEOUT)
        data.eventData = self.xids.pop()
        return None


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> EmulatedLibrary:
    emulated = EmulatedLibrary()
    monkeypatch.setattr(pynvml, "_LoadNvmlLibrary", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlLib", emulated)
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    monkeypatch.setattr(pynvml, "_nvmlLib_refcount", 0)
    return emulated


def test_values_pass_through_pynvml(library: EmulatedLibrary) -> None:
    reader = NvmlReader(pynvml)
    reader.read()
    first, second = reader.read()
    reader.close()
    assert (first.identity.uuid, second.identity.uuid) == ("GPU-0", "GPU-1")
    assert (first.identity.model, first.identity.pci_address) == ("NVIDIA H100 80GB HBM3", "0000:1b:00.0")
    assert (first.identity.driver, first.identity.runtime) == ("580.95.05", "CUDA 13.0")
    assert (first.identity.memory_bytes, first.live.memory_used_bytes) == (80 * GIB, GIB)
    assert (first.topology.numa_node, first.topology.num_nvlinks_up) == (1, NUMBER_OF_LINKS)
    assert first.topology.nvlink_peers == ("GPU-1",)
    assert (first.live.temperature, first.live.memory_temperature) == (61, 72)
    assert (first.live.utilisation, first.live.num_processes) == (0.97, 2)
    # 1,000 KiB more of each direction in 1 s of the driver's clock.
    assert first.live.nvlink_bytes_per_second == pytest.approx(2 * 1000 * 1024)
    assert (first.faults.remapped_rows, first.faults.remap_pending, first.faults.remap_failed) == (3, False, True)
    assert first.faults.throttle_reasons == ("hardware thermal slowdown",)
    assert (first.faults.xids, second.faults.xids) == ({48: 1}, {})
    assert library.num_unsupported > 0
    assert (first.live.power, first.faults.ecc_corrected) == (None, None)
