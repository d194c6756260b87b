"""torch's flight recorder: which collectives this process is in, told while it waits in one.

```text
join a group ─► every collective is recorded ─┬─ a lane hangs ─► open_collectives, asked by the driver ─► run's log
                                              └─ NCCL's own limit passes ─► torch writes a file on the node
```

Invariant: reading it waits for no other rank and for no device, so that the thread which answers for a lane may.
"""

import json
import logging
import os
import tempfile
import time
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.actors.reports import OpenCollective

logger = logging.getLogger(__name__)

SETTINGS = {"TORCH_FR_BUFFER_SIZE": "2000", "TORCH_NCCL_DUMP_ON_TIMEOUT": "1", "NCCL_DEBUG": "WARN"}
"""What is kept and said of collectives that hang: the last 2,000 with their stacks, which are torch's default. Whoever
set the variables for a node keeps them."""
DUMP_PREFIX = "TORCH_FR_DUMP_TEMP_FILE"
"""The variable of the file that torch writes when NCCL's limit passes; torch appends the rank."""
_NS = 1e-9
"""Seconds."""


def keep_flight_recorder(rank: int, port: int) -> None:
    """Let the groups that this process makes from now on keep a record; `port` tells runs on one node apart."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    prefix = os.environ.setdefault(DUMP_PREFIX, f"{tempfile.gettempdir()}/tandem-nccl-{port}-rank-")
    if get_accelerator().communication_backend_name() == "nccl":
        logger.info("if a collective times out, NCCL's flight recorder is in %s%d on this node", prefix, rank)


def open_collectives() -> tuple[OpenCollective, ...]:
    """The collectives that this process has begun and not completed, oldest first; empty without a group."""
    if not torch.distributed.is_initialized():
        return ()
    rank, now = torch.distributed.get_rank(), time.time_ns()
    found = [entry for dumped in _dumps() for entry in dumped.get("entries", ()) if _is_open(entry)]
    return tuple(_collective(entry, rank, now) for entry in sorted(found, key=lambda entry: entry["time_created_ns"]))


def _dumps() -> list[dict[str, Any]]:
    """What the recorders hold: NCCL has one, the other backends share another. torch has no public way to read them."""
    bindings = torch._C._distributed_c10d
    readers = [getattr(bindings, name, None) for name in ("_dump_nccl_trace_json", "_dump_fr_trace_json")]
    return [json.loads(reader(includeCollectives=True, onlyActive=False)) for reader in readers if reader is not None]


def _is_open(entry: dict[str, Any]) -> bool:
    # gloo's state stays at `scheduled`, and NCCL's watchdog retires a collective some time after it has completed.
    return not entry["retired"] and entry["state"] != "completed"


def _collective(entry: dict[str, Any], rank: int, now: int) -> OpenCollective:
    number = entry["p2p_seq_id"] if entry["is_p2p"] else entry["collective_seq_id"]
    return OpenCollective(
        rank=rank,
        operation=entry["profiling_name"],
        group=" ".join(name for name in entry["process_group"] if name),
        number=number,
        input_sizes=tuple(tuple(size) for size in entry["input_sizes"]),
        output_sizes=tuple(tuple(size) for size in entry["output_sizes"]),
        state=entry["state"],
        seconds=max(0.0, (now - entry["time_created_ns"]) * _NS),
    )
