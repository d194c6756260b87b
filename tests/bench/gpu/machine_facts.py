"""What a report says about where and when it was measured."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_shapes import Shapes
from worker.engine.devices.cpu_threads import usable_cores
from worker.engine.devices.selection import device_kind, resolve_device

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("torch", "diffusers", "transformers", "peft", "deepspeed", "accelerate", "triton", "ray")


def machine_facts(shapes: Shapes) -> dict[str, Any]:
    """Facts for the head of a report. `is_measurement` is false for tiny shapes, whatever they ran on."""
    return {
        "bench": "gpu",
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "device": "cpu" if on_cpu() else device_kind(resolve_device(None)),
        "num_devices": 1 if on_cpu() else get_accelerator().device_count(),
        "device_bytes": None if on_cpu() else int(torch.accelerator.get_memory_info()[1]),
        "shapes": shapes.name,
        "is_measurement": shapes.name == "full" and not on_cpu(),
        "cores": usable_cores(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the working tree, with a + where it was changed; `None` where the tree came without git."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return described.stdout.strip() or None
