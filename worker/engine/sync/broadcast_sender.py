"""A trainer rank's side of broadcasts: sends its shards of a version to all lanes of a plan.

```text
lanes say that they are there ─► `GO` ─► [group formed] ─► shard ─► shard …      on the thread that publishes
        not within READY_SECONDS, or stopped by the driver ─► `BroadcastError`, and the lanes are told
```

Invariant: nothing is launched on the device before every lane has said that it is there, and no lane is waited for
longer than the plan's limits; what happens to the version in the object store does not depend on any of it.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial

import torch
import torch.distributed as dist

from worker.engine.devices.broadcast_group import BroadcastGroup
from worker.engine.devices.streams import finish_stream, own_stream
from worker.engine.errors import BroadcastError
from worker.engine.sync.broadcast_plan import (
    GO,
    READY_SECONDS,
    BroadcastPlan,
    ShardLayout,
    StoppedPlans,
    group_key,
    ready_key,
    state_key,
)
from worker.engine.sync.flat_shards import views
from worker.engine.sync.store_keys import await_key


class BroadcastSender:
    """One source. `send` is called on one thread; `stop` on any."""

    def __init__(self, address: str, device: torch.device) -> None:
        """Open a store on a free port of `address`, at which lanes find this rank."""
        self._store = dist.TCPStore(address, 0, is_master=True, wait_for_workers=False)
        self._device = device
        self._group: BroadcastGroup | None = None
        self._number: int | None = None
        """The plan of the group."""
        self._buffer = torch.empty(0, dtype=torch.uint8, device=device)
        self._stopped = StoppedPlans()

    @property
    def port(self) -> int:
        """The port of the store."""
        return int(self._store.port)

    def stop(self, number: int, reason: str) -> None:
        """End the broadcasts of the plan with that number: a lane that they wait for does not come."""
        self._stopped.stop(number, reason)

    def send(
        self,
        plan: BroadcastPlan,
        source: int,
        policy_version: int,
        copies: Mapping[int, Mapping[str, torch.Tensor]],
        beside: Callable[[int], None] = lambda shard: None,
    ) -> None:
        """Broadcast a version's shards, of which this rank is the source.

        Args:
            plan: the members and their shards.
            source: this rank's index among the plan's sources.
            policy_version: the version's number.
            copies: the tensors of each shard of this source, by its index.
            beside: called with the index of each shard while that is under way.

        Raises:
            BroadcastError: when not all lanes take part in time; the lanes fetch the version elsewhere.
        """
        try:
            self._await_lanes(plan, policy_version)
            self._store.set(state_key(plan, policy_version), GO)
            group = self._group_of(plan)
            stopped = partial(self._stopped.reason_of, plan)
            with own_stream(self._device):
                for shard in plan.shards_of(source):
                    buffer = self._filled(plan.layouts[shard], copies[shard])
                    pending = group.begin(buffer, plan.limit_seconds(shard))
                    beside(shard)
                    group.finish(pending, stopped)
                finish_stream(self._device)
        except BroadcastError as error:
            self._store.set(state_key(plan, policy_version), str(error))
            self.leave()
            raise
        for lane in plan.lanes:
            self._store.delete_key(ready_key(plan, policy_version, lane))

    def leave(self) -> None:
        """Give the group up; the next version forms another."""
        if self._group is not None:
            self._group.leave()
        # A broadcast that has not ended may still read the buffer.
        self._group, self._number = None, None
        self._buffer = torch.empty(0, dtype=torch.uint8, device=self._device)

    def _await_lanes(self, plan: BroadcastPlan, policy_version: int) -> None:
        deadline, stopped = time.monotonic() + READY_SECONDS, partial(self._stopped.reason_of, plan)
        for lane in plan.lanes:
            key = ready_key(plan, policy_version, lane)
            if not await_key(self._store, key, stopped, seconds=deadline - time.monotonic()):
                raise BroadcastError(f"lane `{lane}` was not there within {READY_SECONDS:.0f} s")

    def _group_of(self, plan: BroadcastPlan) -> BroadcastGroup:
        if self._group is None or self._number != plan.number:
            self.leave()
            store = dist.PrefixStore(group_key(plan), self._store)
            self._group = BroadcastGroup(store, 0, 1 + len(plan.lanes), self._device)
            self._number = plan.number
        return self._group

    def _filled(self, layout: ShardLayout, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """A buffer with the bytes of a shard, kept for the next one."""
        if self._buffer.numel() < layout.num_bytes:
            self._buffer = torch.zeros(layout.num_bytes, dtype=torch.uint8, device=self._device)
        buffer = self._buffer[: layout.num_bytes]
        for name, view in views(buffer, layout).items():
            view.copy_(tensors[name])
        return buffer
