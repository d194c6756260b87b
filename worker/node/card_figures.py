"""Has cards without a hardware profile measured, one at a time and once for each model of the node.

```text
reports of the watcher ─► a model without profile, on an idle card ─► a process of the engine's probe ─► its figures
                                                                      └─ failed: the reason is logged, not tried again
```

Reports do not wait for it. Invariant: a card on which any process is known to hold memory is left alone. Where the
driver lists none (containers, WSL, an old tool), one that holds next to nothing and computes nothing counts as idle.
"""

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import IO

from pydantic import ValidationError

from worker.contracts.device_masks import takes_uuid
from worker.contracts.device_names import known_profile
from worker.contracts.node_reports import CardFigures, GpuReport

logger = logging.getLogger(__name__)

PROBE = (sys.executable, "-P", "-m", "worker.engine.devices.card_probe")
MAX_READINGS = 60
"""How many readings a probe may take before it is ended: at one every 3 s three minutes, for importing torch from a
slow disk and two seconds of work."""
IDLE_MEMORY_SHARE = 0.1
"""The most that counts as next to nothing: the driver of an idle Ascend 910B holds 3.3 of 64 GiB (`readers.ascend`),
and the desktop some hundred MiB of a small card."""


class CardMeasurements:
    """The figures of this node's models without a profile. `start` begins a probe of a device."""

    def __init__(self, start: Callable[[str], "Probe"] | None = None) -> None:
        self._start = start or Probe
        self._running: tuple[str, Probe] | None = None
        self._figures: dict[str, CardFigures | None] = {}
        """By model; `None` where its probe failed."""

    def added_to(self, gpus: Sequence[GpuReport]) -> tuple[GpuReport, ...]:
        """The reports with the figures that are known, after the next probe was begun where one is due."""
        self._finish()
        if self._running is None:
            self._begin(gpus)
        return tuple(self._with_figures(gpu) for gpu in gpus)

    def _finish(self) -> None:
        if self._running is None:
            return
        model, probe = self._running
        printed = probe.result()
        if printed is None:
            return
        self._running = None
        try:
            self._figures[model] = CardFigures.model_validate_json(printed.strip().rpartition("\n")[2])
        except ValidationError:
            self._figures[model] = None
            logger.warning("%s has no hardware profile and could not be measured: %s", model, printed.strip()[-500:])

    def _begin(self, gpus: Sequence[GpuReport]) -> None:
        due = next((gpu for gpu in gpus if self._is_due(gpu)), None)
        if due is not None:
            identity = due.identity
            device = identity.uuid if takes_uuid(identity.vendor, identity.uuid) else str(identity.index)
            logger.info("%s has no hardware profile: %s is measured for two seconds", identity.model, identity.uuid)
            self._running = identity.model, self._start(device)

    def _is_due(self, gpu: GpuReport) -> bool:
        model = gpu.identity.model
        is_unknown = bool(model) and known_profile(model) is None and model not in self._figures
        return is_unknown and _is_idle(gpu) and not gpu.faults.is_lost

    def _with_figures(self, gpu: GpuReport) -> GpuReport:
        figures = self._figures.get(gpu.identity.model)
        if figures is None:
            return gpu
        return gpu.model_copy(update={"identity": gpu.identity.model_copy(update={"figures": figures})})


def _is_idle(gpu: GpuReport) -> bool:
    live, total = gpu.live, gpu.identity.memory_bytes
    if live.num_processes is not None:
        return live.num_processes == 0
    if live.memory_used_bytes is None or not total:
        return False
    return live.memory_used_bytes <= IDLE_MEMORY_SHARE * total and not live.utilisation


class Probe:
    """The process that measures one device."""

    def __init__(self, device: str, command: Sequence[str] = PROBE) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._printed: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed once it was read)
        self._process = subprocess.Popen(
            [*command, device], stdout=self._printed, stderr=subprocess.STDOUT, env=environment
        )
        self._num_readings = 0

    def result(self) -> str | None:
        """All that it printed, once it has ended; `None` before. One that takes too long is ended."""
        self._num_readings += 1
        if self._process.poll() is None and self._num_readings <= MAX_READINGS:
            return None
        self._process.kill()
        self._process.wait()
        with self._printed:
            self._printed.seek(0)
            return self._printed.read()
