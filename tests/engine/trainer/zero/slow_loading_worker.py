"""A rank process of `test_process_group`: rank 1 loads longer than a collective may take, then is late to one."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from worker.engine.step_count import num_steps
from worker.engine.trainer.zero import process_group


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    """How this rank goes on while it waits, the sum after loading, the limit that holds from then on, and what rank 0
    says of a late rank."""
    own = torch.distributed.new_group()
    waited = [_waited(task["seconds"] if rank == 1 else 0.0) for _ in range(2)]
    process_group.wait_for_the_driver(timedelta(seconds=1))
    total = torch.tensor(float(rank + 1))
    torch.distributed.all_reduce(total)
    backend: Any = torch.distributed.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))
    of_own: Any = own._get_backend(torch.device("cpu"))
    limits = [each.options._timeout for each in (backend, of_own)]
    found = {"waited": waited, "sum": float(total), "limits_after_loading": limits, "late": ""}
    try:
        if rank == 1:
            time.sleep(task["seconds"] + 1)
        torch.distributed.all_reduce(total)
    except RuntimeError as error:
        found["late"] = str(error)
    return found


def _waited(seconds: float) -> int:
    """Steps that a rank makes while it waits for the others, after it has loaded for so many seconds."""
    time.sleep(seconds)
    before = num_steps()
    process_group.end_loading()
    return num_steps() - before
