"""How long the planner takes for 1,024 lanes, measured on this machine."""

import time

from tests.bench.large_pools import plan_of
from worker.scheduling.profiles.hardware import H20, H100, Accelerator

POOLS: dict[str, tuple[Accelerator, ...]] = {
    "1,024 alike": (H100,) * 1024,
    "1,024 of two kinds": (H100,) * 512 + (H20,) * 512,
}
"""A large pool of one and of two kinds of lanes; the number of splits grows with both."""


def planning_seconds() -> dict[str, float]:
    """By pool: seconds of a core in which all modes are compared."""
    return {name: _planning_seconds(devices) for name, devices in POOLS.items()}


def _planning_seconds(devices: tuple[Accelerator, ...]) -> float:
    started = time.process_time()
    plan_of(devices)
    return round(time.process_time() - started, 3)
