"""Asks NVML for everything about one device: a card, or a MIG slice of one.

Every value is asked for by itself, because cards differ in what they offer: one that answers "not supported" is left
empty. Only an answer that speaks of the card as a whole, "GPU is lost" or "reset required", is passed on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from worker.contracts.node_reports import GpuFaults, GpuIdentity, GpuLive, GpuReport, GpuTopology, Vendor
from worker.node.readers.counter_rates import CounterRates
from worker.node.readers.nvml_values import (
    architecture_name,
    field_number,
    lowest_bit,
    pci_address,
    recovery_action,
    thousandth,
    throttle_reasons,
    total,
)

T = TypeVar("T")
NUMA_WORDS = 16
"""Words of 64 bits for a mask of NUMA nodes: Linux knows up to 1,024."""
ALL_LINKS = 0xFFFF_FFFF
"""The scope of a field that is summed over a card's links (`nvml.h`)."""
BYTES_PER_KIB = 1024


@dataclass(frozen=True, slots=True)
class Card:
    """A card that answers."""

    index: int
    handle: Any
    uuid: str


def ask(nvml: Any, function: Callable[..., T], *arguments: Any) -> T | None:
    """The driver's answer; `None` where it has none.

    Raises:
        NVMLError_GpuIsLost, NVMLError_ResetRequired: the card does not answer at all.
    """
    try:
        return function(*arguments)
    except (nvml.NVMLError_GpuIsLost, nvml.NVMLError_ResetRequired):
        raise
    except nvml.NVMLError:
        return None


class NvmlDevice:
    """One card, or a slice of it, at the moment of a reading."""

    def __init__(self, nvml: Any, card: Card, mig_slice: Any, rates: CounterRates) -> None:
        """`nvml` is the module `pynvml`, `mig_slice` a slice's handle or `None` for the whole card."""
        self._nvml, self._card, self._rates = nvml, card, rates
        self._slice = mig_slice
        # A slice has memory and processes of its own; heat, power, links and faults are the card's.
        self._handle = card.handle if mig_slice is None else mig_slice
        self._fields = self._read_fields()

    def report(self, driver: str, runtime: str, cards: Iterable[Card]) -> GpuReport | None:
        """Everything but the Xid counts; `None` for a slice that is gone.

        Args:
            driver: version of the driver.
            runtime: newest CUDA that the driver serves.
            cards: those that answer, among them this one's.

        Raises:
            NVMLError_GpuIsLost, NVMLError_ResetRequired: the card stopped answering.
        """
        uuid = self._card.uuid if self._slice is None else self._ask(self._nvml.nvmlDeviceGetUUID, self._slice)
        if not uuid:
            return None
        memory = self._memory()
        return GpuReport(
            identity=self._identity(str(uuid), None if memory is None else int(memory.total), driver, runtime),
            topology=self._topology(cards),
            live=self._live(None if memory is None else int(memory.used)),
            faults=self._faults(),
        )

    def _identity(self, uuid: str, memory_bytes: int | None, driver: str, runtime: str) -> GpuIdentity:
        nvml, card = self._nvml, self._card.handle
        pci = self._ask(nvml.nvmlDeviceGetPciInfo, card)
        capability = self._ask(nvml.nvmlDeviceGetCudaComputeCapability, card)
        return GpuIdentity(
            uuid=uuid,
            index=self._card.index,
            vendor=Vendor.NVIDIA,
            model=str(self._ask(nvml.nvmlDeviceGetName, self._handle) or ""),
            architecture=architecture_name(self._ask(nvml.nvmlDeviceGetArchitecture, card)),
            compute_capability="" if capability is None else f"{capability[0]}.{capability[1]}",
            memory_bytes=memory_bytes,
            pci_address="" if pci is None else pci_address(str(pci.busId)),
            driver=driver,
            runtime=runtime,
            max_sm_clock=self._ask(nvml.nvmlDeviceGetMaxClockInfo, card, nvml.NVML_CLOCK_SM),
            parent_uuid="" if self._slice is None else self._card.uuid,
        )

    def _topology(self, cards: Iterable[Card]) -> GpuTopology:
        nvml, card = self._nvml, self._card.handle
        numa = self._ask(nvml.nvmlDeviceGetMemoryAffinity, card, NUMA_WORDS, nvml.NVML_AFFINITY_SCOPE_NODE)
        links = (self._ask(nvml.nvmlDeviceGetNvLinkState, card, link) for link in range(nvml.NVML_NVLINK_MAX_LINKS))
        num_up = total(*links)
        # A slice has no peers: CUDA gives MIG instances no access to each other, or to other cards.
        peers = self._nvlink_peers(cards) if num_up and self._slice is None else ()
        return GpuTopology(
            numa_node=None if numa is None else lowest_bit(numa), num_nvlinks_up=num_up, nvlink_peers=tuple(peers)
        )

    def _nvlink_peers(self, cards: Iterable[Card]) -> list[str]:
        """UUIDs of the cards that this one has peer access to over NVLink, which goes through switches too."""
        nvml, found = self._nvml, []
        for other in cards:
            if other.uuid == self._card.uuid:
                continue
            try:
                status = nvml.nvmlDeviceGetP2PStatus(self._card.handle, other.handle, nvml.NVML_P2P_CAPS_INDEX_NVLINK)
            except nvml.NVMLError:  # also when it is the other that is lost
                continue
            if status == nvml.NVML_P2P_STATUS_OK:
                found.append(other.uuid)
        return sorted(found)

    def _live(self, memory_used: int | None) -> GpuLive:
        nvml, card = self._nvml, self._card.handle
        rates = self._ask(nvml.nvmlDeviceGetUtilizationRates, self._handle)
        processes = self._ask(nvml.nvmlDeviceGetComputeRunningProcesses, self._handle)
        return GpuLive(
            utilisation=None if rates is None else min(rates.gpu / 100, 1.0),
            memory_used_bytes=memory_used,
            temperature=self._temperature(),
            memory_temperature=self._field(nvml.NVML_FI_DEV_MEMORY_TEMP),
            power=thousandth(self._ask(nvml.nvmlDeviceGetPowerUsage, card)),
            power_limit=thousandth(self._ask(nvml.nvmlDeviceGetEnforcedPowerLimit, card)),
            energy_joules=thousandth(self._ask(nvml.nvmlDeviceGetTotalEnergyConsumption, card)),
            sm_clock=self._ask(nvml.nvmlDeviceGetClockInfo, card, nvml.NVML_CLOCK_SM),
            memory_clock=self._ask(nvml.nvmlDeviceGetClockInfo, card, nvml.NVML_CLOCK_MEM),
            num_processes=None if processes is None else len(processes),
            nvlink_bytes_per_second=self._nvlink_bytes_per_second(),
        )

    def _faults(self) -> GpuFaults:
        nvml, card, since_load = self._nvml, self._card.handle, self._nvml.NVML_VOLATILE_ECC
        rows = self._ask(nvml.nvmlDeviceGetRemappedRows, card)
        _, remapped, is_pending, has_failed = rows or (None, None, False, False)
        pages_pending = self._ask(nvml.nvmlDeviceGetRetiredPagesPendingStatus, card) == nvml.NVML_FEATURE_ENABLED
        corrected, uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
        return GpuFaults(
            ecc_corrected=self._ask(nvml.nvmlDeviceGetTotalEccErrors, card, corrected, since_load),
            ecc_uncorrected=self._ask(nvml.nvmlDeviceGetTotalEccErrors, card, uncorrected, since_load),
            remapped_rows=remapped,
            retired_pages=self._retired_pages(),
            remap_pending=bool(is_pending) or pages_pending,
            remap_failed=bool(has_failed),
            throttle_reasons=throttle_reasons(self._clocks_event_reasons() or 0),
            pcie_replays=self._ask(nvml.nvmlDeviceGetPcieReplayCounter, card),
            nvlink_errors=total(*(self._field(field) for field in self._nvlink_error_fields())),
            recovery_action=recovery_action(self._field(nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)),
        )

    # --- values that drivers offer in more than one way ---------------------------------------------------------------

    def _memory(self) -> Any:
        """The first version counts the driver's own reserve as used."""
        nvml = self._nvml
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, self._handle, nvml.nvmlMemory_v2)
        return self._ask(nvml.nvmlDeviceGetMemoryInfo, self._handle) if memory is None else memory

    def _temperature(self) -> int | None:
        """The older call goes with CUDA 14; older drivers have no other."""
        nvml, card = self._nvml, self._card.handle
        found = self._ask(nvml.nvmlDeviceGetTemperatureV, card, nvml.NVML_TEMPERATURE_GPU)
        return self._ask(nvml.nvmlDeviceGetTemperature, card, nvml.NVML_TEMPERATURE_GPU) if found is None else found

    def _clocks_event_reasons(self) -> int | None:
        """The older call goes with CUDA 14; older drivers have no other."""
        nvml, card = self._nvml, self._card.handle
        found = self._ask(nvml.nvmlDeviceGetCurrentClocksEventReasons, card)
        return self._ask(nvml.nvmlDeviceGetCurrentClocksThrottleReasons, card) if found is None else found

    def _retired_pages(self) -> int | None:
        nvml = self._nvml
        causes = (
            nvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
            nvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
        )
        lists = [self._ask(nvml.nvmlDeviceGetRetiredPages, self._card.handle, cause) for cause in causes]
        return total(*(None if pages is None else len(pages) for pages in lists))

    def _nvlink_error_fields(self) -> tuple[int, ...]:
        nvml = self._nvml
        return (
            nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
        )

    def _read_fields(self) -> dict[int, Any]:
        """The values of the fields that are read in one call, by field; each says for itself whether it is offered."""
        nvml = self._nvml
        links = (nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX)
        asked: list[Any] = [
            nvml.NVML_FI_DEV_MEMORY_TEMP,
            nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION,
            *self._nvlink_error_fields(),
            *((field, ALL_LINKS) for field in links),
        ]
        answers = self._ask(nvml.nvmlDeviceGetFieldValues, self._card.handle, asked)
        return {answer.fieldId: answer for answer in answers or ()}

    def _field(self, field: int) -> float | None:
        return field_number(self._fields[field]) if field in self._fields else None

    def _nvlink_bytes_per_second(self) -> float | None:
        """From the counters of both directions, with the driver's own time stamps in microseconds."""
        sent, received = (
            self._nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
            self._nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
        )
        kib = [self._field(sent), self._field(received)]
        if self._slice is not None or kib[0] is None or kib[1] is None:
            return None
        return self._rates.rate(self._card.uuid, self._fields[sent].timestamp / 1e6, (kib[0] + kib[1]) * BYTES_PER_KIB)

    def _ask(self, function: Callable[..., T], *arguments: Any) -> T | None:
        return ask(self._nvml, function, *arguments)
