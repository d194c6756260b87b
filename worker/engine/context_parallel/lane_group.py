"""The torch.distributed group of one lane of several GPUs: rank 0 is the lane's own process, each further GPU has one.

```text
rank 0: open_store ─► port ─► the followers' processes ─► join_group on every rank ─► send ─► received ─► …
```

Tensors of an accelerator go over its own backend, everything else over gloo. So a rank that waits for the next call
waits on the host, and its device is idle meanwhile.
"""

from datetime import timedelta
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.devices.collective_timeout import COLLECTIVE_TIMEOUT
from worker.engine.devices.flight_recorder import keep_flight_recorder
from worker.engine.devices.selection import group_device

HOST = "127.0.0.1"
"""All ranks of a lane are on one node."""
JOIN_TIMEOUT = timedelta(minutes=2)
"""How long a rank waits for the others to join, which have all loaded by then."""


def open_store(size: int) -> torch.distributed.TCPStore:
    """The store at which `size` ranks find each other; rank 0 keeps it. Its port is free, since it listens already."""
    return torch.distributed.TCPStore(HOST, 0, size, is_master=True, timeout=JOIN_TIMEOUT, wait_for_workers=False)


def join_group(rank: int, size: int, store: torch.distributed.TCPStore | int) -> None:
    """Join the lane's group of `size` ranks, by the store of rank 0 or its port; returns when all have joined."""
    if isinstance(store, int):
        store = torch.distributed.TCPStore(HOST, store, size, is_master=False, timeout=JOIN_TIMEOUT)
    keep_flight_recorder(rank, store.port)
    device, backend = get_accelerator().device_name(), get_accelerator().communication_backend_name()
    torch.distributed.init_process_group(
        "gloo" if device == "cpu" else f"cpu:gloo,{device}:{backend}",
        store=store,
        rank=rank,
        world_size=size,
        # Rank 0 watches its followers, and the driver watches rank 0.
        timeout=COLLECTIVE_TIMEOUT,
        device_id=group_device(),
    )


def abort_group() -> None:
    """End collectives of an accelerator that wait for a rank which is gone; those of gloo end by themselves."""
    if torch.distributed.is_initialized() and get_accelerator().device_name() != "cpu":
        torch.distributed.distributed_c10d._abort_process_group()


def send(value: Any) -> None:
    """Send a value from rank 0 to every other rank; a collective with their `received`."""
    torch.distributed.broadcast_object_list([value], src=0, device=torch.device("cpu"))


def received() -> Any:
    """The value that rank 0 sends."""
    box: list[Any] = [None]
    torch.distributed.broadcast_object_list(box, src=0, device=torch.device("cpu"))
    return box[0]
