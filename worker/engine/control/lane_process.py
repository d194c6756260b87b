"""Ends the process of a lane from outside.

Ray asks a process to end itself, and one that was stopped does not hear it: it would keep its GPU's memory.
"""

import logging
import os
import signal
from pathlib import Path

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.engine.actors.reports import LaneLocation

logger = logging.getLogger(__name__)

END_SECONDS = 30.0
"""How long Ray may take to start a process on the lane's node, which ends the other."""
RAY_TITLE = b"ray::"
"""How the title of every process begins in which Ray runs a task or an actor."""


@ray.remote(num_cpus=0, max_retries=0)
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
    there = NodeAffinitySchedulingStrategy(location.node_id, soft=False)
    try:
        ray.get(end_process.options(scheduling_strategy=there).remote(location.pid), timeout=END_SECONDS)
    except (ray.exceptions.GetTimeoutError, ray.exceptions.RayError) as error:
        logger.warning("process %d on %s could not be ended: %s", location.pid, location.node, error)
