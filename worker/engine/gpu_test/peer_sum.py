"""A sum over the tested GPU and another one of its node, as trainer ranks add gradients.

```text
this process ─┬─► rank 0, sees the tested GPU ──┐ all-reduce
              └─► rank 1, sees its peer ────────┘
```

Both ranks are processes of their own, each of which sees one device, as on lanes; and so this one can end them when
they hang. Invariant: nothing at the top of this module imports torch, because ranks choose their device first.
"""

import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from worker.engine.devices.visibility import check_device, see_only
from worker.engine.gpu_test.outcomes import StepFailedError, StepSkippedError
from worker.engine.unwanted_imports import without_unwanted_imports

LIMIT_SECONDS = 150.0
"""How long both ranks may take: they import torch, which takes up to a minute from a slow disk, and connect."""
NUM_SUMS = 8
BYTES_ON_ACCELERATOR = 256 * 2**20
"""Enough for the full bandwidth of a link."""
BYTES_ON_CPU = 2**20
PERIOD = 1024
"""Values repeat after so many elements and stay below 4 × 1024, so that fp32 holds every sum exactly."""


@dataclass(frozen=True, slots=True)
class RankResult:
    """What a rank found."""

    problem: str = ""
    gigabytes_per_second: float = 0.0


def check_all_reduce(device: str, peer: str | None, *, limit_seconds: float = LIMIT_SECONDS) -> str:
    """Add tensors of both GPUs and compare the sums exactly; returns the bandwidth.

    Raises:
        StepSkippedError: there is no peer.
        StepFailedError: a sum is wrong, a rank failed, or both did not end within the limit.
    """
    if peer is None:
        raise StepSkippedError("no other GPU of its node was in service, free, and whole")
    from worker.engine.trainer.zero.process_group import free_port

    processes, port, started = get_context("spawn"), free_port(), []
    ranks: dict[Connection, str] = {}
    try:
        for rank, seen in enumerate((device, peer)):
            here, there = processes.Pipe(duplex=False)
            process = processes.Process(target=_rank, args=(rank, seen, port, there), daemon=True)
            process.start()
            there.close()
            started.append(process)
            ranks[here] = f"rank {rank} on {seen}"
        results = _results(ranks, limit_seconds)
    finally:
        for process in started:
            process.kill()
            process.join()
    return f"{NUM_SUMS} sums with {peer} are exact, at {min(each.gigabytes_per_second for each in results):.3g} GB/s"


def _results(ranks: dict[Connection, str], limit_seconds: float) -> list[RankResult]:
    """What both ranks found. The first that fails decides, since the other one may wait for it in vain."""
    waiting, results, deadline = dict(ranks), list[RankResult](), time.monotonic() + limit_seconds
    while waiting:
        ready = wait(list(waiting), timeout=max(deadline - time.monotonic(), 0))
        if not ready:
            raise StepFailedError(f"{' and '.join(waiting.values())} hung: no result within {limit_seconds:g} s")
        for connection in ready:
            assert isinstance(connection, Connection)
            name = waiting.pop(connection)
            try:
                result: RankResult = connection.recv()
            except EOFError:
                result = RankResult("its process died")
            if result.problem:
                raise StepFailedError(f"{name}: {result.problem}")
            results.append(result)
    return results


def _rank(rank: int, device: str, port: int, answer: Connection) -> None:
    """The main program of a rank."""
    see_only(device)
    try:
        result = _add(rank, device, port)
    except Exception as error:
        result = RankResult(f"{type(error).__name__}: {error}")
    answer.send(result)


def _add(rank: int, device: str, port: int) -> RankResult:
    with without_unwanted_imports():
        import torch
        from deepspeed.accelerator import get_accelerator

        from worker.engine.devices.selection import resolve_device
        from worker.engine.trainer.zero.process_group import init_process_group

    check_device(f"rank {rank}", device)
    init_process_group(rank, 2, "127.0.0.1", port)
    on = resolve_device(None)
    num_bytes = BYTES_ON_CPU if on.type == "cpu" else BYTES_ON_ACCELERATOR
    own = torch.arange(num_bytes // 4, device=on).remainder_(PERIOD).float()
    expected, given = 3 * own + 1, own if rank == 0 else 2 * own + 1
    seconds = []
    for number in range(NUM_SUMS):
        total = given.clone()
        torch.distributed.barrier()
        began = time.perf_counter()
        torch.distributed.all_reduce(total)
        get_accelerator().synchronize()
        seconds.append(time.perf_counter() - began)
        if num_wrong := int((total != expected).sum()):
            return RankResult(f"{num_wrong} of {total.numel()} elements of sum {number + 1} are wrong")
    # Of n ranks each sends and receives 2(n − 1)/n of the tensor, which is all of it for two.
    return RankResult(gigabytes_per_second=num_bytes / min(seconds) / 1e9)
