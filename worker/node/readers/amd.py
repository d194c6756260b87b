"""Reads AMD Instinct GPUs through amdsmi, the Python module that ships with ROCm (AMD SMI Python API reference,
rocm.docs.amd.com/projects/amdsmi; releases 6.2 to 7.0 of its source).

Invariant: a card that stops answering is reported lost and does not hide the others. amdsmi looks for cards only when
it is opened, so that it is opened again now and then while a card is lost. It has no events like NVIDIA's Xids.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from worker.contracts.node_reports import GpuReport
from worker.node.readers.amd_device import AmdDevice
from worker.node.readers.known_gpus import KnownGpus
from worker.node.readers.reader import NoDriverError, ReaderError

logger = logging.getLogger(__name__)

REOPEN_SECONDS = 60.0
"""Between two openings while a card is lost."""


class AmdReader:
    """`amdsmi` is the module, `now` a clock in seconds."""

    def __init__(self, amdsmi: Any, now: Callable[[], float] = time.monotonic) -> None:
        """Raises `NoDriverError` where there is no AMD driver, or no card."""
        self._amdsmi, self._now, self._known = amdsmi, now, KnownGpus()
        self._opened_at: float | None = None
        self._runtime = ""
        try:
            self._open()
            handles = self._handles()
        except ReaderError as error:
            raise NoDriverError(str(error)) from error
        if not handles:
            self.close()
            raise NoDriverError("amdsmi lists no card")

    def read(self) -> tuple[GpuReport, ...]:
        if self._opened_at is not None and self._known.has_lost and self._now() - self._opened_at >= REOPEN_SECONDS:
            self.close()
        if self._opened_at is None:
            self._open()
        devices = [AmdDevice(self._amdsmi, handle) for handle in self._handles()]
        devices.sort(key=lambda device: device.pci_address)  # stable, where addresses are not known
        _tell_apart(devices)
        reports = (device.report(index, self._runtime, devices) for index, device in enumerate(devices))
        seen = {report.identity.uuid: report for report in reports if report is not None}
        if devices and not seen:
            self.close()
            raise ReaderError(f"amdsmi: none of {len(devices)} GPUs answers")
        return self._known.with_lost(seen.values(), seen.keys())

    def close(self) -> None:
        self._opened_at = None
        try:
            self._amdsmi.amdsmi_shut_down()
        except self._amdsmi.AmdSmiException as error:
            logger.info("amdsmi does not close: %s", error)

    def _open(self) -> None:
        try:
            self._amdsmi.amdsmi_init()
        except self._amdsmi.AmdSmiException as error:
            raise ReaderError(f"amdsmi: {_line(error)}") from error
        self._opened_at, self._runtime = self._now(), self._rocm_version()

    def _handles(self) -> list[Any]:
        """Raises `ReaderError`; the next reading opens amdsmi again."""
        try:
            return list(self._amdsmi.amdsmi_get_processor_handles())
        except self._amdsmi.AmdSmiException as error:
            self.close()
            raise ReaderError(f"amdsmi: {_line(error)}") from error

    def _rocm_version(self) -> str:
        """Asked from release 6.4 on; an answer is whether it is known, with the version or the reason."""
        ask = getattr(self._amdsmi, "amdsmi_get_rocm_version", None)
        is_known, version = ask() if ask is not None else (False, "")
        return f"ROCm {version}" if is_known else ""


def _tell_apart(devices: list[AmdDevice]) -> None:
    """Append their PCI address to UUIDs that were there before, as those of partitions that the driver does not
    number."""
    taken = set[str]()
    for device in devices:
        if device.uuid and device.uuid in taken:
            device.uuid = f"{device.uuid}@{device.pci_address}"
        taken.add(device.uuid)


def _line(error: Exception) -> str:
    """The library's messages have line breaks."""
    return " ".join(str(error).split())
