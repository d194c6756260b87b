"""Lanes of two recorded GPUs, and the processes of their second ones."""

import time
from collections.abc import Callable

import psutil

from worker.contracts.lanes import LaneGrant

UUIDS = ("GPU-00000000-0000-0000-0000-00000000000a", "GPU-00000000-0000-0000-0000-00000000000b")
END_SECONDS = 20.0
"""How long a process may take to end with its owner."""


def widened(grant: LaneGrant) -> LaneGrant:
    """The grant with two GPUs."""
    return grant.model_copy(update={"gpus": (0, 1), "uuids": UUIDS})


def follower_pids() -> set[int]:
    """The processes of followers of rollout lanes."""
    return pids_of_actors("Follower")


def pids_of_actors(prefix: str) -> set[int]:
    """The processes of actors whose class's name begins so on the test's cluster, whose raylet is a child of this
    process."""
    return {child.pid for child in psutil.Process().children(recursive=True) if _is_actor(child, prefix)}


def _is_actor(process: psutil.Process, prefix: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.name().startswith(f"ray::{prefix}")
    except psutil.NoSuchProcess:
        return False


def until(condition: Callable[[], bool], seconds: float = END_SECONDS) -> bool:
    """Whether the condition holds within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()
