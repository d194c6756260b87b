"""Ends the process of a lane from outside.

Ray asks a process to end itself, and one that was stopped does not hear it: it would keep its GPU's memory.
"""

import logging
import os
import signal
from pathlib import Path

from ray.exceptions import RayError

from worker.engine.actors.reports import LaneLocation
from worker.engine.control.node_task import run_beside

logger = logging.getLogger(__name__)

RAY_TITLE = b"ray::"
"""How the title of every process begins in which Ray runs a task or an actor."""


def end_process(pid: int) -> bool:
    """End a process of Ray's on this node at once; False where it has ended, and its number may be another's."""
    try:
        if not Path(f"/proc/{pid}/cmdline").read_bytes().startswith(RAY_TITLE):
            return False
        os.kill(pid, signal.SIGKILL)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


def end_at(location: LaneLocation) -> None:
    """End the process at `location`. Where its node does not answer it stays: the node's loss ends it, too."""
    try:
        run_beside(location, end_process)
    except RayError as error:
        logger.warning("process %d on %s could not be ended: %s", location.pid, location.node, error)
