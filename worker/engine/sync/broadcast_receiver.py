"""A rollout lane's side of broadcasts: a thread fills buffers of its own, and the lane binds them between fragments.

```text
thread that receives   receive(version) ─► ready ─► wait for `GO` ─► [groups formed] ─► shard by shard ─► complete
thread of the actor    … generate … ─────────────────────────────► pull ─► taken(version) ─► bind ─► generate …
```

Invariant: what `taken` gives is complete and of the version asked for, and is not written to meanwhile. A version that
was not received is told as a reason, never as an error: the lane then fetches it from the object store.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
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
    BroadcastEndpoint,
    BroadcastPlan,
    StoppedPlans,
    group_key,
    ready_key,
    state_key,
)
from worker.engine.sync.flat_shards import ReceivedShard, ReceivedVersion, views
from worker.engine.sync.store_keys import await_key

CONNECT_SECONDS = 3.0
"""How long a lane tries to reach a source's store, which is open since the source has loaded. torch tries twice."""


class BroadcastReceiver:
    """One lane. `receive` is called on one thread, `taken` on another, `stop` on any."""

    def __init__(self, lane: str, device: torch.device, memory: MemoryPlan | None = None) -> None:
        """
        Args:
            lane: its name.
            device: where versions are received.
            memory: by which a lack of memory is explained.
        """
        self._memory = memory or MemoryPlan(None, None)
        self._lane = lane
        self._device = device
        self._lock = threading.Condition()
        """Guards what follows."""
        self._held: tuple[int, int] | None = None
        """Plan number and version of what was received, or is being received, last."""
        self._is_complete = False
        self._reason: str | None = None
        """Why it will not be complete."""
        self._is_read = False
        """Whether `taken` gives the buffers away now."""
        self._stopped = StoppedPlans()
        # Of the receiving thread alone:
        self._number: int | None = None
        """The plan of the groups."""
        self._stores: list[dist.Store] = []
        self._groups: list[BroadcastGroup] = []
        self._buffers: list[torch.Tensor] = []
        """One for each shard."""
        self._plan: BroadcastPlan | None = None

    def receive(self, plan: BroadcastPlan, policy_version: int) -> None:
        """Receive a version; what comes of it `taken` tells."""
        with self._lock:
            # A fragment is not being generated while a version is bound, so this is short.
            self._lock.wait_for(lambda: not self._is_read)
            self._held, self._is_complete, self._reason = (plan.number, policy_version), False, None
        try:
            with self._explaining(policy_version):
                self._receive(plan, policy_version)
            reason = None
        except (BroadcastError, DeviceMemoryError, dist.DistError) as error:
            self._leave()
            reason = _first_line(error)
        with self._lock:
            self._plan, self._is_complete, self._reason = plan, reason is None, reason
            self._lock.notify_all()

    def stop(self, number: int, reason: str) -> None:
        """End the broadcasts of the plan with that number: a member does not go on."""
        self._stopped.stop(number, reason)

    @contextmanager
    def taken(
        self, number: int, policy_version: int, checksums: Sequence[str]
    ) -> Iterator[tuple[ReceivedVersion | None, str]]:
        """The version, once it is received; or `None` and the reason why it was not.

        Args:
            number: of the plan by which the version was broadcast.
            policy_version: the version, whose broadcast has ended at its sources.
            checksums: of its shards, as published.
        """
        with self._lock:
            self._lock.wait_for(
                lambda: self._held != (number, policy_version) or self._is_complete or self._reason is not None
            )
            reason = self._reason or ""
            if self._held is None:
                reason = "its process was started later"
            elif self._held != (number, policy_version):
                reason = f"it has received version {self._held[1]} since"
            self._is_read = not reason
        if reason:
            yield None, reason
            return
        try:
            yield self._received(policy_version, checksums), ""
        finally:
            with self._lock:
                self._is_read = False
                self._lock.notify_all()

    def _received(self, policy_version: int, checksums: Sequence[str]) -> ReceivedVersion:
        assert self._plan is not None, "a version was received by it"
        return ReceivedVersion(
            received=tuple(
                ReceivedShard(policy_version=policy_version, tensors=views(buffer, layout), sha256=sha256)
                for buffer, layout, sha256 in zip(self._buffers, self._plan.layouts, checksums, strict=True)
            )
        )

    # --- the receiving thread ---------------------------------------------------------------------------------------

    def _receive(self, plan: BroadcastPlan, policy_version: int) -> None:
        if self._number != plan.number:
            self._leave()
            self._stores = [_connected(source) for source in plan.sources]
        # Before the sources are told that it is there: from then on they wait for it in collectives.
        try:
            with self._explaining(policy_version):
                self._make_buffers(plan)
        except DeviceMemoryError as error:
            # They need not wait to learn it.
            self._answer(plan, policy_version, _first_line(error))
            raise
        self._answer(plan, policy_version, "")
        for store in self._stores:
            self._await_go(plan, store, policy_version)
        if self._number != plan.number:
            rank, size = 1 + plan.lanes.index(self._lane), 1 + len(plan.lanes)
            for store in self._stores:
                self._groups.append(BroadcastGroup(dist.PrefixStore(group_key(plan), store), rank, size, self._device))
            self._number = plan.number
        stopped = partial(self._stopped.reason_of, plan)
        with own_stream(self._device):
            for shard, buffer in enumerate(self._buffers):
                group = self._groups[shard % len(self._groups)]
                group.finish(group.begin(buffer, plan.limit_seconds(shard)), stopped)
            finish_stream(self._device)

    def _explaining(self, policy_version: int) -> AbstractContextManager[None]:
        return self._memory.explaining(f"receive policy version {policy_version}", HOLD_NO_COPY)

    def _answer(self, plan: BroadcastPlan, policy_version: int, answer: str) -> None:
        """Tell all sources that this lane is there, by an empty answer, or why it cannot receive the version."""
        for store in self._stores:
            store.set(ready_key(plan, policy_version, self._lane), answer)

    def _await_go(self, plan: BroadcastPlan, store: dist.Store, policy_version: int) -> None:
        """Wait until a source begins. Raises `BroadcastError` where it does not."""
        key = state_key(plan, policy_version)
        await_key(store, key, partial(self._stopped.reason_of, plan))
        state = store.get(key).decode()
        if state != GO:
            raise BroadcastError(state)

    def _make_buffers(self, plan: BroadcastPlan) -> None:
        sizes = [layout.num_bytes for layout in plan.layouts]
        if [buffer.numel() for buffer in self._buffers] != sizes:
            self._buffers = []
            self._buffers = [torch.empty(size, dtype=torch.uint8, device=self._device) for size in sizes]

    def _leave(self) -> None:
        """Give up groups and buffers: a broadcast that has not ended may still write to them."""
        for group in self._groups:
            group.leave()
        self._groups, self._stores, self._buffers, self._number = [], [], [], None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _connected(source: BroadcastEndpoint) -> dist.Store:
    return dist.TCPStore(
        source.address,
        source.port,
        is_master=False,
        wait_for_workers=False,
        timeout=timedelta(seconds=CONNECT_SECONDS),
    )
