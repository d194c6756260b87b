"""Runs a function on the node of a lane, in a process beside the lane's and whatever has become of that."""

from collections.abc import Callable
from typing import TypeVar

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.engine.actors.reports import LaneLocation

T = TypeVar("T")

TIMEOUT_SECONDS = 15.0
"""How long the driver waits: Ray starts a task in seconds, and on a node that was lost it never does."""


def run_beside(location: LaneLocation, function: Callable[[int], T]) -> T:
    """`function` of the process id of the lane at `location`, carried out on its node.

    Raises:
        ray.exceptions.RayError: when the node does not carry it out within `TIMEOUT_SECONDS`, or it fails there.
    """
    there = NodeAffinitySchedulingStrategy(location.node_id, soft=False)
    task = ray.remote(num_cpus=0, max_retries=0)(function).options(scheduling_strategy=there)
    value: T = ray.get(task.remote(location.pid), timeout=TIMEOUT_SECONDS)
    return value
