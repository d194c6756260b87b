"""How many CPU threads a lane's libraries use.

A lane on a CPU is one slot of its node and takes one thread. A lane on an accelerator takes its share of the node's
cores: offloaded AdamW, decoding and scoring on the CPU would otherwise crawl on one of a hundred (DeepSpeed's CPU Adam
divides its work over OpenMP's threads).
"""

import os
import sys
from pathlib import Path

DEVICE_FILES = ("nvidia[0-9]*", "davinci[0-9]*", "dri/renderD*")
"""The device files below `/dev` of each vendor's accelerators: NVIDIA, Ascend, and last AMD, since NVIDIA's cards have
files there, too."""
CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""`QUOTA PERIOD` of a container, in microseconds, or `max PERIOD` (cgroup v2: Linux kernel, admin-guide/cgroup-v2)."""


def use_threads(number: int) -> None:
    """Give this process's libraries `number` CPU threads: those that are imported later by OpenMP's variable, and torch
    itself where a lane was forked with it."""
    os.environ["OMP_NUM_THREADS"] = str(number)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(number)


def threads_of_lane(*, on_accelerator: bool, devices: Path = Path("/dev"), quota: Path = CPU_QUOTA) -> int:
    """The CPU threads of a lane's process: at least 1."""
    if not on_accelerator:
        return 1
    return max(1, usable_cores(quota) // max(1, num_accelerators(devices)))


def threads_of_scoring(*, devices: Path = Path("/dev"), quota: Path = CPU_QUOTA) -> int:
    """The CPU threads of a lane without an accelerator that scores: one slot's where CPU lanes share the node, and half
    of the cores on a node of accelerators, whose lanes leave most of theirs idle."""
    return max(1, usable_cores(quota) // 2) if num_accelerators(devices) else 1


def usable_cores(quota: Path = CPU_QUOTA) -> int:
    """The cores that this process may use, by its affinity and by its container's quota."""
    cores = len(os.sched_getaffinity(0))
    try:
        allowed, period = quota.read_text().split()
    except (OSError, ValueError):
        return cores
    return cores if allowed == "max" else max(1, min(cores, int(allowed) // int(period)))


def num_accelerators(devices: Path = Path("/dev")) -> int:
    """The accelerators of the node that this container may reach, by their device files; 0 where there are none."""
    return next((number for pattern in DEVICE_FILES if (number := len(list(devices.glob(pattern))))), 0)
