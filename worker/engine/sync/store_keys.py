"""Waiting for a key of a store that members of a broadcast share, in a way that can be stopped."""

import time
from collections.abc import Callable

import torch.distributed as dist

from worker.engine.errors import BroadcastError

POLL_SECONDS = 2e-3
"""How often the store is asked: a question takes a tenth of a millisecond on one node."""


def await_key(
    store: dist.Store, key: str, reason_to_stop: Callable[[], str | None], *, seconds: float = float("inf")
) -> bool:
    """Wait until `store` has `key`; returns whether it has, within `seconds`.

    Raises:
        BroadcastError: when `reason_to_stop` gives a reason.
        torch.distributed.DistError: when the process of the store is lost.
    """
    deadline = time.monotonic() + seconds
    # `Store.wait` would write a warning to the log whenever it is stopped.
    while not store.check([key]):
        if (reason := reason_to_stop()) is not None:
            raise BroadcastError(reason)
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
