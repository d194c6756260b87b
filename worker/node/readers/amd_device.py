"""Asks `amdsmi` for everything about one GPU, or one partition of it.

Every value is asked for by itself: one that the card does not offer, or that this release of the library does not know,
is left empty. Functions are asked for by name, since releases differ in which they have.
"""

from collections.abc import Iterable
from typing import Any

from worker.contracts.node_reports import GpuFaults, GpuIdentity, GpuLive, GpuReport, GpuTopology, Vendor
from worker.node.readers.amd_values import (
    PENDING_PAGE,
    XGMI,
    architecture_of,
    gpu_uuid,
    joules,
    number,
    text,
    violations,
    whole,
    words,
)

MICRO = 1e-6


class AmdDevice:
    """One handle at the moment of a reading."""

    def __init__(self, amdsmi: Any, handle: Any) -> None:
        """`amdsmi` is the module."""
        self._amdsmi, self.handle = amdsmi, handle
        self._asic = self._ask("amdsmi_get_gpu_asic_info", handle)
        kfd = self._ask("amdsmi_get_gpu_kfd_info", handle)
        enumeration = self._ask("amdsmi_get_gpu_enumeration_info", handle)
        serial = gpu_uuid(enumeration, self._asic, whole(kfd, "current_partition_id"))
        self.uuid = serial or words(self._ask("amdsmi_get_gpu_device_uuid", handle))
        self.pci_address = words(self._ask("amdsmi_get_gpu_device_bdf", handle))

    def report(self, index: int, runtime: str, others: Iterable["AmdDevice"]) -> GpuReport | None:
        """`None` for a GPU that is lost: amdsmi has no error for it, but then nothing live answers.

        Args:
            index: on the node, in the order of PCI addresses.
            runtime: version of ROCm.
            others: the node's GPUs, this one among them.
        """
        live = self._live()
        if not self.uuid or live == GpuLive():
            return None
        return GpuReport(
            identity=self._identity(index, runtime),
            topology=GpuTopology(
                numa_node=self._whole("amdsmi_get_gpu_topo_numa_affinity"),
                nvlink_peers=tuple(sorted(other.uuid for other in others if self._is_linked(other))),
            ),
            live=live,
            faults=self._faults(),
        )

    def _identity(self, index: int, runtime: str) -> GpuIdentity:
        vram, target = self._amdsmi.AmdSmiMemoryType.VRAM, text(self._asic, "target_graphics_version")
        return GpuIdentity(
            uuid=self.uuid,
            index=index,
            vendor=Vendor.AMD,
            model=text(self._asic, "market_name"),
            architecture=architecture_of(target),
            compute_capability=target,
            memory_bytes=self._whole("amdsmi_get_gpu_memory_total", vram),
            pci_address=self.pci_address,
            driver=text(self._ask("amdsmi_get_gpu_driver_info", self.handle), "driver_version"),
            runtime=runtime,
            max_sm_clock=number(
                self._ask("amdsmi_get_clock_info", self.handle, self._amdsmi.AmdSmiClkType.GFX), "max_clk"
            ),
        )

    def _is_linked(self, other: "AmdDevice") -> bool:
        if other.uuid in ("", self.uuid):
            return False
        return whole(self._ask("amdsmi_topo_get_link_type", self.handle, other.handle), "type") == XGMI

    def _live(self) -> GpuLive:
        smi, handle = self._amdsmi, self.handle
        activity = number(self._ask("amdsmi_get_gpu_activity", handle), "gfx_activity")
        # The first is what MI300 answers, the second what MI200 does.
        power = ("current_socket_power", "average_socket_power", "socket_power")
        power_cap = number(self._ask("amdsmi_get_power_cap_info", handle), "power_cap")
        kinds = (smi.AmdSmiClkType.GFX, smi.AmdSmiClkType.MEM)
        clocks = [self._ask("amdsmi_get_clock_info", handle, kind) for kind in kinds]
        processes = self._ask("amdsmi_get_gpu_process_list", handle)
        sensors = smi.AmdSmiTemperatureType
        return GpuLive(
            utilisation=None if activity is None else min(activity / 100, 1.0),
            memory_used_bytes=self._whole("amdsmi_get_gpu_memory_usage", smi.AmdSmiMemoryType.VRAM),
            temperature=self._temperature(sensors.HOTSPOT, sensors.EDGE),
            memory_temperature=self._temperature(sensors.VRAM),
            power=number(self._ask("amdsmi_get_power_info", handle), *power),
            power_limit=None if power_cap is None else power_cap * MICRO,
            energy_joules=joules(self._ask("amdsmi_get_energy_count", handle)),
            sm_clock=number(clocks[0], "clk", "cur_clk"),
            memory_clock=number(clocks[1], "clk", "cur_clk"),
            num_processes=_num_holding_memory(processes),
        )

    def _temperature(self, *sensors: Any) -> float | None:
        """Of the first sensor that answers, in degrees Celsius."""
        now = self._amdsmi.AmdSmiTemperatureMetric.CURRENT
        answers = (number(self._ask("amdsmi_get_temp_metric", self.handle, sensor, now)) for sensor in sensors)
        return next((answer for answer in answers if answer is not None), None)

    def _faults(self) -> GpuFaults:
        errors = self._ask("amdsmi_get_gpu_total_ecc_count", self.handle)
        pcie = self._ask("amdsmi_get_pcie_info", self.handle)
        metric = pcie.get("pcie_metric") if isinstance(pcie, dict) else None
        replays = whole(metric, "pcie_replay_count")
        # Without bad pages, releases before 6.2 answer a sentence.
        pages = self._ask("amdsmi_get_gpu_bad_page_info", self.handle)
        bad = pages if isinstance(pages, list) else None if pages is None else []
        threshold = self._whole("amdsmi_get_gpu_bad_page_threshold")
        return GpuFaults(
            ecc_corrected=whole(errors, "correctable_count"),
            ecc_uncorrected=whole(errors, "uncorrectable_count"),
            retired_pages=None if bad is None else len(bad),
            remap_pending=any(number(page, "status") == PENDING_PAGE for page in bad or ()),
            remap_failed=bool(threshold) and len(bad or ()) >= (threshold or 0),
            # The library takes two samples, 100 ms apart.
            throttle_reasons=violations(self._ask("amdsmi_get_violation_status", self.handle)),
            pcie_replays=self._whole("amdsmi_get_gpu_pci_replay_counter") if replays is None else replays,
        )

    def _whole(self, name: str, *arguments: Any) -> int | None:
        return whole(self._ask(name, self.handle, *arguments))

    def _ask(self, name: str, *arguments: Any) -> Any:
        """The library's answer; `None` where it has none."""
        function = getattr(self._amdsmi, name, None)
        if function is None:
            return None
        try:
            return function(*arguments)
        except (self._amdsmi.AmdSmiException, ValueError):  # it parses text of the driver's, unchecked
            return None


def _num_holding_memory(processes: Any) -> int | None:
    """The list names processes of other GPUs too, with no memory on this one. Older releases list handles."""
    if not isinstance(processes, list) or not all(isinstance(process, dict) for process in processes):
        return None
    return sum(1 for process in processes if number(process, "mem"))
