"""Ranks of `worker.engine.gpu_test.peer_sum` of which the second has a fault. Torch is imported by those that add."""

import os
import time
from multiprocessing.connection import Connection
from typing import Any

from worker.engine.gpu_test.peer_sum import _rank as sound


def dies(rank: int, device: str, port: int, answer: Connection) -> None:
    if rank == 1:
        os._exit(1)
    sound(rank, device, port, answer)


def hangs(rank: int, device: str, port: int, answer: Connection) -> None:
    if rank == 1:
        time.sleep(600)
    sound(rank, device, port, answer)


def adds_wrongly(rank: int, device: str, port: int, answer: Connection) -> None:
    """One element of each sum is off by one on rank 1."""
    if rank == 1:
        import torch

        all_reduce = torch.distributed.all_reduce

        def one_off(total: Any) -> None:
            all_reduce(total)
            total[3] += 1

        torch.distributed.all_reduce = one_off
    sound(rank, device, port, answer)
