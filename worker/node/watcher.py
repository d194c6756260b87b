"""The actor that reads one node: its load, and its GPUs through a reader."""

import os
import shutil
import time
from pathlib import Path

import ray

from worker.contracts.embedding_room import EmbeddingRoom
from worker.contracts.node_reports import GpuLive, GpuReport, NodeReport
from worker.node.card_figures import CardMeasurements
from worker.node.readers.detection import is_replayed, offered, reader_of_this_node
from worker.node.readers.reader import ReaderError

MAX_ERROR_CHARS = 500
SHARED_MEMORY = Path("/dev/shm")
"""Where Ray keeps its object store on Linux."""


class NodeWatcher:
    """Reads this node. An actor without resources, pinned to its node."""

    def __init__(self, ray_node_id: str) -> None:
        self._ray_node_id = ray_node_id
        self._reader = reader_of_this_node()
        self._measurements = CardMeasurements()
        self._embedding_room = EmbeddingRoom()
        self._last: tuple[GpuReport, ...] = ()

    def process(self) -> int:
        """The process id of this watcher."""
        return os.getpid()

    def report(self) -> NodeReport:
        """The node as it is now."""
        error = ""
        try:
            self._last = offered(self._reader.read())
            if not is_replayed():
                self._last = self._measurements.added_to(self._last)
        except ReaderError as failure:
            error, self._last = str(failure)[:MAX_ERROR_CHARS], tuple(_unread(gpu) for gpu in self._last)
        total, available = memory_bytes()
        return NodeReport(
            ray_node_id=self._ray_node_id,
            at=time.time(),
            num_cpus=os.cpu_count() or 1,
            memory_bytes=total,
            memory_used_bytes=total - available,
            load=os.getloadavg()[0],
            shm_free_bytes=free_bytes(SHARED_MEMORY),
            spill_free_bytes=free_bytes(Path(ray._private.worker._global_node.get_session_dir_path())),
            embeddings_room_bytes=self._embedding_room.num_bytes(time.monotonic()),
            gpus=self._last,
            reader_error=error,
        )


def memory_bytes() -> tuple[int, int]:
    """(all memory of the machine, what is available to processes), by `/proc/meminfo`."""
    lines = (line.partition(":") for line in Path("/proc/meminfo").read_text().splitlines())
    kilobytes = {name: int(rest.split()[0]) for name, _, rest in lines}
    return kilobytes["MemTotal"] * 1024, kilobytes["MemAvailable"] * 1024


def free_bytes(folder: Path) -> int | None:
    """What is free where the folder lies; `None` where there is no such folder."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _unread(gpu: GpuReport) -> GpuReport:
    """What is known of a GPU while the driver does not answer."""
    return gpu.model_copy(update={"live": GpuLive()})
