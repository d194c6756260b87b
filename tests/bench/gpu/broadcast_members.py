"""A trainer rank and rollout lanes as threads of one process, each with a device of its own: what a broadcast needs."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.sync.binding import bind
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan
from worker.engine.sync.broadcast_receiver import BroadcastReceiver
from worker.engine.sync.broadcast_sender import BroadcastSender
from worker.engine.sync.flat_shards import layout_of
from worker.engine.types import PullReceipt

Shards = Sequence[Mapping[str, torch.Tensor]]
HERE = "127.0.0.1"


class BroadcastMembers:
    """One source that sends the same shards version after version."""

    def __init__(self, shards: Shards, source: torch.device, lanes: Sequence[torch.device]) -> None:
        self._shards = dict(enumerate(shards))
        self._source = source
        self._sender = BroadcastSender(HERE, source)
        names = tuple(f"rollout-{index}" for index in range(len(lanes)))
        layouts = tuple(layout_of(shard) for shard in shards)
        endpoint = BroadcastEndpoint(address=HERE, port=self._sender.port, layouts=layouts)
        self._plan = BroadcastPlan(number=1, sources=(endpoint,), lanes=names)
        self._receivers = {
            name: (BroadcastReceiver(name, device), device) for name, device in zip(names, lanes, strict=True)
        }
        self._live = {name: _empty_like(shards, device) for name, (_, device) in self._receivers.items()}
        self._version = 0

    def broadcast(self) -> None:
        """Send a version, until every lane has received it."""
        self._version += 1
        threads = [
            threading.Thread(target=_receive, args=(receiver, device, self._plan, self._version))
            for receiver, device in self._receivers.values()
        ]
        for thread in threads:
            thread.start()
        try:
            self._sender.send(self._plan, 0, self._version, self._shards)
        finally:
            for thread in threads:
                thread.join()

    def bind(self, checksums: Sequence[str]) -> list[PullReceipt]:
        """Bind the version on all lanes at once, and read it back."""

        def of(name: str) -> PullReceipt:
            receiver, device = self._receivers[name]
            _use(device)
            with receiver.taken(1, self._version, checksums) as (received, reason):
                assert received is not None, reason
                return bind(self._live[name], received)

        with ThreadPoolExecutor() as pool:
            bound: list[Future[PullReceipt]] = [pool.submit(of, name) for name in self._receivers]
            return [each.result() for each in bound]


def devices() -> list[torch.device]:
    """Every accelerator of this machine; without one, the CPU for three members."""
    if get_accelerator().device_name() == "cpu":
        return [torch.device("cpu")] * 3
    return [torch.device(get_accelerator().device_name(index)) for index in range(get_accelerator().device_count())]


def _use(device: torch.device) -> None:
    """Streams and buffers of this thread are on `device`."""
    if device.index is not None:
        get_accelerator().set_device(device.index)


def _receive(receiver: BroadcastReceiver, device: torch.device, plan: BroadcastPlan, version: int) -> None:
    _use(device)
    receiver.receive(plan, version)


def _empty_like(shards: Shards, device: torch.device) -> dict[str, torch.nn.Parameter]:
    return {
        name: torch.nn.Parameter(torch.zeros_like(tensor, device=device))
        for shard in shards
        for name, tensor in shard.items()
    }
