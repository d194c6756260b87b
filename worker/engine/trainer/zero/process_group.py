"""The torch.distributed process group of a run's trainer ranks.

```text
init_process_group ─► every rank loads, as long as it takes ─► end_loading: all wait ─► DeepSpeed makes its groups
                                       collectives, as long as the driver lets them ◄── wait_for_the_driver ◄─┘
```

Nothing is discovered: rank, world size, address and port come from the driver, so two runs on one machine never join
the same group.
"""

import os
import socket
import time
from datetime import timedelta

import deepspeed
import deepspeed.ops
import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.devices.collective_timeout import COLLECTIVE_TIMEOUT
from worker.engine.devices.flight_recorder import keep_flight_recorder
from worker.engine.devices.selection import group_device
from worker.engine.step_count import advance

_LOADED = "tandem/loaded"
"""The key of the number of ranks that have loaded, in the group's store."""
_POLL_SECONDS = 0.1
"""How often a rank that has loaded looks whether all have: beside loading, which takes seconds at least."""


def init_process_group(rank: int, world_size: int, master_addr: str, master_port: int, *, local_rank: int = 0) -> None:
    """Join the group and hand it to DeepSpeed; returns when all ranks have joined. `end_loading` comes next.

    Args:
        rank: this process's index in the group.
        world_size: the number of trainer ranks.
        master_addr: the address of rank 0.
        master_port: a port that is free there.
        local_rank: index of this rank's device among those visible to the process; 0 where each process sees one.
    """
    # DeepSpeed reads these even where the group exists already.
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(world_size),
        LOCAL_RANK=str(local_rank),
        MASTER_ADDR=master_addr,
        MASTER_PORT=str(master_port),
    )
    keep_flight_recorder(rank, master_port)
    # Otherwise the first CPU group compiles a shared-memory extension with g++ for about a minute.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    backend = get_accelerator().communication_backend_name()
    torch.distributed.init_process_group(
        backend,
        init_method=f"tcp://{master_addr}:{master_port}",
        rank=rank,
        world_size=world_size,
        timeout=COLLECTIVE_TIMEOUT,
        device_id=group_device(),
    )
    deepspeed.init_distributed(dist_backend=backend, auto_mpi_discovery=False, verbose=False)


def end_loading() -> None:
    """Wait until every rank has loaded. A collective.

    It comes before DeepSpeed makes groups of its own, whose limit is torch's ten minutes on NCCL. A rank that waits for
    another counts as going on, since the driver watches the other; once all have loaded, none does until they meet.
    """
    store, num_ranks = torch.distributed.distributed_c10d._get_default_store(), torch.distributed.get_world_size()
    # The ranks of one process group may load more than once, each time all of them.
    num_wanted = -(-store.add(_LOADED, 1) // num_ranks) * num_ranks
    while store.add(_LOADED, 0) < num_wanted:
        advance()
        time.sleep(_POLL_SECONDS)
    torch.distributed.barrier()


def wait_for_the_driver(timeout: timedelta = COLLECTIVE_TIMEOUT) -> None:
    """From now on wait `timeout` for the other ranks, in every group that this one has joined by now."""
    for group in tuple(torch.distributed.distributed_c10d._world.pg_map):
        torch.distributed.distributed_c10d._set_pg_timeout(timeout, group)


def free_port() -> int:
    """A port of this machine that nothing listens on now, for a group whose ranks are all here."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sum_over_ranks(value: int, device: torch.device) -> int:
    """The sum of the ranks' values; a collective. `device` is the one that the group's backend reduces on."""
    return _reduced(value, device, torch.distributed.ReduceOp.SUM)


def max_over_ranks(value: int, device: torch.device) -> int:
    """The largest of the ranks' values; a collective, as `sum_over_ranks`."""
    return _reduced(value, device, torch.distributed.ReduceOp.MAX)


def _reduced(value: int, device: torch.device, operation: torch.distributed.ReduceOp.RedOpType) -> int:
    if torch.distributed.get_world_size() == 1:
        return value
    tensor = torch.tensor(value, device=device)
    torch.distributed.all_reduce(tensor, operation)
    return int(tensor)


def destroy_process_group() -> None:
    """Leave the group; a process may then join another."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
