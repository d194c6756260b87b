"""A trainer rank's side of broadcasts: sends its shards of a version to all lanes of a plan.

```text
lanes say that they are there ─► `GO` ─► [group formed] ─► shard ─► shard …      on the thread that publishes
        one of them that it cannot, not all within READY_SECONDS, or stopped by the driver
                                     ─► `BroadcastError`, and the lanes are told
```

Invariant: nothing is launched on the device before every lane has said that it is there, and no lane is waited for
longer than the plan's limits; what happens to the version in the object store does not depend on any of it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch
import torch.distributed as dist

from worker.engine.devices.broadcast_group import BroadcastGroup
from worker.engine.devices.smaller_calls import MemoryPlan
from worker.engine.devices.streams import finish_stream, own_stream
from worker.engine.errors import BroadcastError, DeviceMemoryError
from worker.engine.sync.broadcast_plan import (
    GO,
    HOLD_NO_COPY,
    READY_SECONDS,
    BroadcastPlan,
    ShardLayout,
    StoppedPlans,
    group_key,
    ready_key,
    state_key,
)
from worker.engine.sync.flat_shards import views
from worker.engine.sync.store_keys import POLL_SECONDS


class BroadcastSender:
    """One source. `send` is called on one thread; `stop` on any."""

    def __init__(self, address: str, device: torch.device, memory: MemoryPlan | None = None) -> None:
        """Open a store on a free port of `address`, at which lanes find this rank.

        Args:
            address: this node's.
            device: where the shards are.
            memory: by which a lack of memory is explained.
        """
        self._memory = memory or MemoryPlan(None, None)
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
            BroadcastError: when not all lanes take part in time, with those that do not, or this rank has no memory
                for its buffer; the lanes fetch the version elsewhere.
        """
        try:
            with self._memory.explaining(f"broadcast policy version {policy_version}", HOLD_NO_COPY):
                self._send(plan, source, policy_version, copies, beside)
        except (BroadcastError, DeviceMemoryError) as error:
            self._store.set(state_key(plan, policy_version), str(error))
            self.leave()
            raise BroadcastError(str(error), error.lanes if isinstance(error, BroadcastError) else ()) from error
        for lane in plan.lanes:
            self._store.delete_key(ready_key(plan, policy_version, lane))

    def leave(self) -> None:
        """Give the group up; the next version forms another."""
        if self._group is not None:
            self._group.leave()
        # A broadcast that has not ended may still read the buffer.
        self._group, self._number = None, None
        self._buffer = torch.empty(0, dtype=torch.uint8, device=self._device)

    def _send(
        self,
        plan: BroadcastPlan,
        source: int,
        policy_version: int,
        copies: Mapping[int, Mapping[str, torch.Tensor]],
        beside: Callable[[int], None],
    ) -> None:
        if self._number != plan.number:
            self.leave()
        # Before lanes are told to go on: from then on they wait in collectives.
        self._make_buffer(max((plan.layouts[shard].num_bytes for shard in plan.shards_of(source)), default=0))
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

    def _await_lanes(self, plan: BroadcastPlan, policy_version: int) -> None:
        """Wait until all lanes are there. Raises `BroadcastError` with the lanes that cannot take part, as soon as one
        says so, or that have said nothing in time."""
        deadline, missing = time.monotonic() + READY_SECONDS, list(plan.lanes)
        while missing:
            answers = self._answers(plan, policy_version, missing)
            if declined := {lane: answer for lane, answer in answers.items() if answer}:
                lane, reason = next(iter(declined.items()))
                raise BroadcastError(f"lane `{lane}` cannot receive it: {reason}", tuple(declined))
            missing = [lane for lane in missing if lane not in answers]
            if (stopped := self._stopped.reason_of(plan)) is not None:
                raise BroadcastError(stopped)
            if missing and time.monotonic() > deadline:
                named = ", ".join(f"`{lane}`" for lane in missing)
                raise BroadcastError(f"lane {named} was not there within {READY_SECONDS:.0f} s", tuple(missing))
            if missing:
                time.sleep(POLL_SECONDS)

    def _answers(self, plan: BroadcastPlan, policy_version: int, lanes: Sequence[str]) -> dict[str, str]:
        """What those of `lanes` have said that have said something, by lane."""
        keys = {lane: ready_key(plan, policy_version, lane) for lane in lanes}
        return {lane: self._store.get(key).decode() for lane, key in keys.items() if self._store.check([key])}

    def _group_of(self, plan: BroadcastPlan) -> BroadcastGroup:
        if self._group is None:
            store = dist.PrefixStore(group_key(plan), self._store)
            self._group = BroadcastGroup(store, 0, 1 + len(plan.lanes), self._device)
            self._number = plan.number
        return self._group

    def _make_buffer(self, num_bytes: int) -> None:
        if self._buffer.numel() < num_bytes:
            self._buffer = torch.zeros(num_bytes, dtype=torch.uint8, device=self._device)

    def _filled(self, layout: ShardLayout, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The buffer with the bytes of a shard."""
        buffer = self._buffer[: layout.num_bytes]
        for name, view in views(buffer, layout).items():
            view.copy_(tensors[name])
        return buffer
