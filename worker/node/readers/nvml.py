"""Reads NVIDIA GPUs through NVML (the library behind nvidia-smi; NVML API Reference Guide, docs.nvidia.com/deploy).

```text
read ─► Xid events taken ─► each card: handle, UUID ─► its slices or itself: NvmlDevice ─► GpuReport
                                 └─ GPU is lost, reset required ─► KnownGpus: reported lost
```

Invariant: a card that stops answering is reported lost and does not hide the others. Handles are asked for anew in
each reading, since a reset makes old ones invalid; NVML itself looks for cards only when it is opened, so that it is
opened again now and then while a card is lost.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

from worker.contracts.node_reports import GpuReport
from worker.node.readers.counter_rates import CounterRates
from worker.node.readers.known_gpus import KnownGpus, card_uuid
from worker.node.readers.nvml_device import Card, NvmlDevice, ask
from worker.node.readers.nvml_values import cuda_version
from worker.node.readers.nvml_xids import XidCounts
from worker.node.readers.reader import NoDriverError, ReaderError

logger = logging.getLogger(__name__)

REOPEN_SECONDS = 60.0
"""Between two openings while a card is lost. Opening takes up to seconds on nodes without persistence mode."""


class NvmlReader:
    """`nvml` is the module `pynvml`, `now` a clock in seconds."""

    def __init__(self, nvml: Any, now: Callable[[], float] = time.monotonic) -> None:
        """Raises `NoDriverError` where there is no NVIDIA driver, or no card. A driver that is there and fails is
        tried again with each reading."""
        self._nvml, self._now = nvml, now
        self._known, self._rates, self._xids = KnownGpus(), CounterRates(), XidCounts(nvml)
        self._driver, self._runtime = "", ""
        self._opened_at: float | None = None
        try:
            self._open()
        except NoDriverError:
            raise
        except ReaderError as error:
            logger.warning("%s", error)
            return
        if self._count() == 0:
            self.close()
            raise NoDriverError("NVML lists no card")

    def read(self) -> tuple[GpuReport, ...]:
        if self._opened_at is not None and self._known.has_lost and self._now() - self._opened_at >= REOPEN_SECONDS:
            self._xids.take()
            self.close()
        if self._opened_at is None:
            self._open()
        self._xids.take()
        cards = self._cards()
        seen, answering = [], set[str]()
        for card in cards:
            try:
                seen += self._reports(card, cards)
            except (self._nvml.NVMLError_GpuIsLost, self._nvml.NVMLError_ResetRequired):
                continue
            answering.add(card.uuid)
            self._xids.follow(card.uuid, card.handle)
        return tuple(self._with_xids(report) for report in self._known.with_lost(seen, answering))

    def close(self) -> None:
        self._xids.release()
        self._opened_at = None
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError as error:
            logger.info("NVML does not close: %s", error)

    def _open(self) -> None:
        nvml = self._nvml
        try:
            nvml.nvmlInit()
        except (nvml.NVMLError_LibraryNotFound, nvml.NVMLError_DriverNotLoaded) as error:
            raise NoDriverError(f"NVML: {error}") from error
        except nvml.NVMLError as error:
            raise ReaderError(f"NVML: {error}") from error
        self._opened_at = self._now()
        self._driver = str(self._version(nvml.nvmlSystemGetDriverVersion) or "")
        self._runtime = cuda_version(self._version(nvml.nvmlSystemGetCudaDriverVersion_v2))

    def _count(self) -> int:
        """Raises `ReaderError`; the next reading opens NVML again."""
        try:
            return int(self._nvml.nvmlDeviceGetCount())
        except self._nvml.NVMLError as error:
            self.close()
            raise ReaderError(f"NVML: {error}") from error

    def _cards(self) -> list[Card]:
        """The cards that answer.

        Raises:
            ReaderError: none does, and none says that it is lost: then it is the driver that fails.
        """
        nvml, cards, failures = self._nvml, list[Card](), list[Exception]()
        for index in range(self._count()):
            try:
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                cards.append(Card(index, handle, str(nvml.nvmlDeviceGetUUID(handle))))
            except nvml.NVMLError as error:
                failures.append(error)
        speak_of_card = (nvml.NVMLError_GpuIsLost, nvml.NVMLError_ResetRequired)
        if failures and not cards and not any(isinstance(failure, speak_of_card) for failure in failures):
            self.close()
            raise ReaderError(f"NVML: {failures[0]}") from failures[0]
        return cards

    def _reports(self, card: Card, cards: list[Card]) -> list[GpuReport]:
        """The card's, or those of its slices; none of a card in MIG mode without slices, which cannot compute."""
        devices = [NvmlDevice(self._nvml, card, mig_slice, self._rates) for mig_slice in self._parts(card)]
        reports = (device.report(self._driver, self._runtime, cards) for device in devices)
        return [report for report in reports if report is not None]

    def _parts(self, card: Card) -> Iterator[Any]:
        """Handles of the card's MIG slices; `None` for the whole card where it is not in MIG mode."""
        nvml = self._nvml
        mode = ask(nvml, nvml.nvmlDeviceGetMigMode, card.handle)
        if not mode or mode[0] != nvml.NVML_DEVICE_MIG_ENABLE:
            yield None
            return
        for number in range(ask(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, card.handle) or 0):
            mig_slice = ask(nvml, nvml.nvmlDeviceGetMigDeviceHandleByIndex, card.handle, number)
            if mig_slice is not None:
                yield mig_slice

    def _with_xids(self, report: GpuReport) -> GpuReport:
        """The Xids of a card that is lost go with it: the last of them says why."""
        faults = report.faults.model_copy(update={"xids": self._xids.of(card_uuid(report))})
        return report.model_copy(update={"faults": faults})

    def _version(self, function: Callable[[], Any]) -> Any:
        """`None` where the driver does not say."""
        try:
            return function()
        except self._nvml.NVMLError:
            return None
