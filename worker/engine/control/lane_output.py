"""What a lane's process printed last, which says why it died: NCCL's watchdog, a driver and the kernel write to stderr
and end the process, so that nothing of it is in the lane's own reports.

Ray keeps what processes print in files of their node. A task there reads the end of the dead process's files; Ray's own
way to them needs its dashboard, which not every cluster has.
"""

import logging
import re
from pathlib import Path

import ray
from ray.exceptions import RayError

from worker.engine.actors.reports import LaneLocation
from worker.engine.control.node_task import run_beside

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 1500
"""Of each stream: its end, within what one message of the run's log may hold."""
MAX_BYTES_READ = 2**16
"""Of a file: the stacks that follow a signal are some 10 KB, and what matters was written before them."""
STACKS = re.compile(r"^(\*\*\* SIG|\[.*logging\.cc:\d+: \*\*\* SIG|Fatal Python error)", re.MULTILINE)
"""Where Ray and Python begin to print the stacks of a process that a signal ends."""
RAYS_OWN = re.compile(r"^:(job_id|actor_name|task_name):.*\n?", re.MULTILINE)
"""Lines by which Ray knows whose output follows."""
STREAMS = {"stderr": "err", "stdout": "out"}
"""The endings of Ray's files. NCCL warns on stdout."""


def log_last_output(lane: str, location: LaneLocation | None) -> None:
    """Log the end of stderr and stdout of a lane's dead process, as far as its node still has them."""
    if location is None:
        return
    try:
        found = run_beside(location, _ends_of_streams)
    except (RayError, OSError) as error:
        logger.info("what lane %s wrote last cannot be read: %s", lane, error)
        return
    for stream, text in found.items():
        if text:
            logger.warning("lane %s wrote last to %s:\n%s", lane, stream, text)


def _ends_of_streams(pid: int) -> dict[str, str]:
    """By stream, the end of what the process wrote on this node."""
    logs = Path(ray._private.worker._global_node.get_logs_dir_path())
    return {stream: end_of_file(logs, f"worker-*-{pid}.{ending}") for stream, ending in STREAMS.items()}


def end_of_file(folder: Path, pattern: str) -> str:
    """The last lines of the newest file of that name, without the stacks after a signal; empty where there is none."""
    files = sorted(folder.glob(pattern), key=lambda file: file.stat().st_mtime)
    if not files:
        return ""
    with files[-1].open("rb") as file:
        file.seek(max(0, files[-1].stat().st_size - MAX_BYTES_READ))
        text = file.read().decode(errors="replace")
    return RAYS_OWN.sub("", STACKS.split(text, maxsplit=1)[0]).strip()[-MAX_CHARACTERS:]
