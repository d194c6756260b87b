"""A rank process of `test_flight_recorder`: rank 0 waits in a collective that rank 1 comes to late, and tells of it."""

import threading
import time
from pathlib import Path
from typing import Any

import torch

from worker.engine.devices.flight_recorder import open_collectives


def run(task: Any, rank: int, world_size: int, folder: Path) -> Any:
    """What rank 0 has open while it waits, and after; nothing for rank 1."""
    del world_size
    torch.distributed.all_reduce(torch.ones(7))
    has_told = folder / "told"
    if rank:
        while not has_told.exists():
            time.sleep(0.01)
        torch.distributed.all_reduce(torch.ones(task["rows"], 3))
        return None
    waiting = threading.Thread(target=torch.distributed.all_reduce, args=(torch.ones(task["rows"], 3),))
    waiting.start()
    deadline = time.monotonic() + task["seconds"]
    while time.monotonic() < deadline:
        time.sleep(0.05)
    during = open_collectives()
    has_told.touch()
    waiting.join()
    return during, open_collectives()
