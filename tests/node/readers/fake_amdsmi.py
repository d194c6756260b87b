"""Takes the place of the module `amdsmi`, which ships with ROCm only.

Names, signatures and answers are those of its release 7.0.2; a card may answer as an older release does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
GIB = 1024**3
NOT_SUPPORTED, DRIVER_NOT_LOADED, FILE_NOT_FOUND = 2, 34, 52
"""`AMDSMI_STATUS_…`."""


class AmdSmiException(Exception):
    """The base of the library's exceptions."""


class AmdSmiLibraryException(AmdSmiException):
    def __init__(self, err_code: int) -> None:
        super().__init__(err_code)
        self.err_code = err_code

    def __str__(self) -> str:
        return f"Error code:\n\t{self.err_code} | AMDSMI_STATUS"


class TemperatureType(IntEnum):
    EDGE = 0
    HOTSPOT = 1
    VRAM = 2


class TemperatureMetric(IntEnum):
    CURRENT = 0


class ClkType(IntEnum):
    GFX = 0
    MEM = 4


class MemoryType(IntEnum):
    VRAM = 0


@dataclass(eq=False)
class FakeAmdCard:
    """A card or a partition; a handle is the object itself."""

    number: int
    """Hexadecimal digits of its serial number; 0 where the driver knows none."""
    bdf: str = "0000:0c:00.0"
    partition: int = 0
    device_uuid: str = ""
    is_lost: bool = False
    num_ecc: tuple[int, int] = (4, 0)
    pages: list[int] = field(default_factory=list)
    """Status of its bad pages."""
    page_threshold: int = 128
    violations: dict[str, bool | str] = field(default_factory=dict)
    is_xgmi: bool = True
    refused: dict[str, int] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    """What functions answer in place of the usual."""


def library_function(function: F) -> F:
    name = function.__name__

    @wraps(function)
    def answer(fake: "FakeAmdsmi", *arguments: Any) -> Any:
        if name in fake.refused:
            raise AmdSmiLibraryException(fake.refused[name])
        if not fake.is_open and name != "amdsmi_init":
            raise AmdSmiLibraryException(32)  # AMDSMI_STATUS_NOT_INIT
        for card in (argument for argument in arguments if isinstance(argument, FakeAmdCard)):
            # What the library keeps of a card is answered after it is gone.
            if card.is_lost and name not in ("amdsmi_get_gpu_device_bdf", "amdsmi_get_gpu_asic_info"):
                raise AmdSmiLibraryException(FILE_NOT_FOUND)
            if name in card.refused:
                raise AmdSmiLibraryException(card.refused[name])
            if name in card.answers:
                return card.answers[name]
        return function(fake, *arguments)

    return cast(F, answer)


class FakeAmdsmi:
    AmdSmiException = AmdSmiException
    AmdSmiTemperatureType, AmdSmiTemperatureMetric = TemperatureType, TemperatureMetric
    AmdSmiClkType, AmdSmiMemoryType = ClkType, MemoryType

    def __init__(self, cards: list[FakeAmdCard]) -> None:
        self.cards, self.listed = cards, list[FakeAmdCard]()
        self.refused: dict[str, int] = {}
        self.is_open = False

    @library_function
    def amdsmi_init(self) -> None:
        self.is_open, self.listed = True, list(self.cards)

    @library_function
    def amdsmi_shut_down(self) -> None:
        self.is_open = False

    def amdsmi_get_rocm_version(self) -> tuple[bool, str]:
        """Raises nothing, as the real one."""
        return True, "7.0.2"

    @library_function
    def amdsmi_get_processor_handles(self) -> list[FakeAmdCard]:
        return list(self.listed)

    @library_function
    def amdsmi_get_gpu_device_bdf(self, processor_handle: FakeAmdCard) -> str:
        return processor_handle.bdf

    @library_function
    def amdsmi_get_gpu_device_uuid(self, processor_handle: FakeAmdCard) -> str:
        return processor_handle.device_uuid

    @library_function
    def amdsmi_get_gpu_enumeration_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {
            "drm_render": 128,
            "drm_card": 0,
            "hsa_id": 2,
            "hip_id": 0,
            "hip_uuid": f"GPU-{processor_handle.number:016x}",
        }

    @library_function
    def amdsmi_get_gpu_kfd_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {"kfd_id": 41245, "node_id": 2, "current_partition_id": processor_handle.partition}

    @library_function
    def amdsmi_get_gpu_asic_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {
            "market_name": "AMD Instinct MI300X",
            "vendor_id": "0x1002",
            "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
            "subvendor_id": "0x1002",
            "device_id": "0x74a1",
            "rev_id": "0x00",
            "asic_serial": f"0x{processor_handle.number:016X}" if processor_handle.number else "N/A",
            "oam_id": 0,
            "num_compute_units": 304,
            "target_graphics_version": "gfx942",
            "subsystem_id": "0x74a1",
        }

    @library_function
    def amdsmi_get_gpu_driver_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {"driver_name": "amdgpu", "driver_version": "6.14.14", "driver_date": "2015/01/01 00:00"}

    @library_function
    def amdsmi_get_gpu_memory_total(self, processor_handle: FakeAmdCard, mem_type: MemoryType) -> int:
        assert mem_type is MemoryType.VRAM
        return 192 * GIB

    @library_function
    def amdsmi_get_gpu_memory_usage(self, processor_handle: FakeAmdCard, mem_type: MemoryType) -> int:
        assert mem_type is MemoryType.VRAM
        return 2 * GIB

    @library_function
    def amdsmi_get_gpu_activity(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {"gfx_activity": 88, "umc_activity": 12, "mm_activity": "N/A"}

    @library_function
    def amdsmi_get_temp_metric(
        self, processor_handle: FakeAmdCard, sensor_type: TemperatureType, metric: TemperatureMetric
    ) -> int:
        assert metric is TemperatureMetric.CURRENT
        if sensor_type is TemperatureType.EDGE:  # as on MI300
            raise AmdSmiLibraryException(NOT_SUPPORTED)
        return {TemperatureType.HOTSPOT: 57, TemperatureType.VRAM: 48}[sensor_type]

    @library_function
    def amdsmi_get_power_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {
            "socket_power": 0,
            "current_socket_power": 612,
            "average_socket_power": "N/A",
            "gfx_voltage": "N/A",
            "soc_voltage": "N/A",
            "mem_voltage": "N/A",
            "power_limit": 750_000_000,
        }

    @library_function
    def amdsmi_get_power_cap_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        microwatts = 750_000_000
        return {
            "power_cap": microwatts,
            "default_power_cap": microwatts,
            "dpm_cap": 2100,
            "min_power_cap": 0,
            "max_power_cap": microwatts,
        }

    @library_function
    def amdsmi_get_energy_count(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {"energy_accumulator": 1_000_000, "counter_resolution": 15.259, "timestamp": 1}

    @library_function
    def amdsmi_get_clock_info(self, processor_handle: FakeAmdCard, clock_type: ClkType) -> dict[str, Any]:
        clock = {ClkType.GFX: 2100, ClkType.MEM: 1300}[clock_type]
        return {"clk": clock, "min_clk": 132, "max_clk": 2100, "clk_locked": False, "clk_deep_sleep": 0}

    @library_function
    def amdsmi_get_gpu_process_list(self, processor_handle: FakeAmdCard) -> list[dict[str, Any]]:
        return [{"name": "python", "pid": 7, "mem": GIB}, {"name": "python", "pid": 8, "mem": 0}]

    @library_function
    def amdsmi_get_gpu_total_ecc_count(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        corrected, uncorrected = processor_handle.num_ecc
        return {"correctable_count": corrected, "uncorrectable_count": uncorrected, "deferred_count": 0}

    @library_function
    def amdsmi_get_gpu_bad_page_info(self, processor_handle: FakeAmdCard) -> list[dict[str, Any]]:
        pages = enumerate(processor_handle.pages)
        return [{"value": n, "page_address": n << 12, "page_size": 4096, "status": status} for n, status in pages]

    @library_function
    def amdsmi_get_gpu_bad_page_threshold(self, processor_handle: FakeAmdCard) -> int:
        return processor_handle.page_threshold

    @library_function
    def amdsmi_get_violation_status(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        known = ("prochot_thrm", "ppt_pwr", "socket_thrm", "vr_thrm", "hbm_thrm")
        return {f"active_{name}": processor_handle.violations.get(name, False) for name in known}

    @library_function
    def amdsmi_get_pcie_info(self, processor_handle: FakeAmdCard) -> dict[str, Any]:
        return {"pcie_static": {"max_pcie_width": 16}, "pcie_metric": {"pcie_width": 16, "pcie_replay_count": 3}}

    @library_function
    def amdsmi_get_gpu_pci_replay_counter(self, processor_handle: FakeAmdCard) -> int:
        return 9

    @library_function
    def amdsmi_get_gpu_topo_numa_affinity(self, processor_handle: FakeAmdCard) -> int:
        return 1

    @library_function
    def amdsmi_topo_get_link_type(
        self, processor_handle_src: FakeAmdCard, processor_handle_dst: FakeAmdCard
    ) -> dict[str, int]:
        is_xgmi = processor_handle_src.is_xgmi and processor_handle_dst.is_xgmi
        return {"hops": 1, "type": 2} if is_xgmi else {"hops": 2, "type": 1}


def mi300s(number: int = 4) -> list[FakeAmdCard]:
    """Cards of one board, linked with each other."""
    return [FakeAmdCard(0xAB00 + index, bdf=f"0000:{0x0C + index:02x}:00.0") for index in range(number)]
