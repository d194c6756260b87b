"""The pool's websocket: which nodes are to be read again, and live values as they come.

All sockets get the same frames, which name no run: who holds a lane depends on who asks, so pages read changed nodes
over REST, and the rule of who sees which run stands in one place. Pub/sub delivers at most once, so every poll compares
digests of the database with those of the poll before. Invariant: whatever changes is told within `POLL_SECONDS`.
"""

import time
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from accounts.access import Actor, NotVisible, visible_projects
from fleet.pools.pool_changes import digests
from fleet.selectors import newest_agent
from live.publish import POOL_GROUP
from runs.queue.queue_changes import queue_digest
from telemetry.sockets.consumers import RefreshingConsumer
from telemetry.sockets.frames import LiveValues, PoolChangedFrame


class PoolConsumer(RefreshingConsumer):
    """`/ws/v1/pool`: first a frame after which everything is to be read, then a frame for whatever changes, and one at
    each poll."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._digests: dict[int, tuple[str, ...]] = {}
        self._queue = ""
        """Digest of the queue."""
        self._projects: frozenset[UUID] | None = None
        """The projects whose runs the user may see; `None` before the first frame."""

    async def begin(self) -> None:
        if not self.user.is_authenticated:
            raise NotVisible("log in first")
        await self.channel_layer.group_add(POOL_GROUP, self.channel_name)
        await self.refresh()

    async def refresh(self) -> None:
        found, queue, projects, reported_at = await database_sync_to_async(_state)(self.user)
        changed: list[int] | None = None
        if projects == self._projects:
            nodes = found.keys() | self._digests.keys()
            changed = sorted(node for node in nodes if found.get(node) != self._digests.get(node))
        is_other_queue = changed is None or queue != self._queue
        self._digests, self._queue, self._projects = found, queue, projects
        await self._send(reported_at=reported_at, changed=changed, queue=is_other_queue)

    async def end(self) -> None:
        await self.channel_layer.group_discard(POOL_GROUP, self.channel_name)

    async def pool_changed(self, frame: dict[str, Any]) -> None:
        """Forward a live frame."""
        async with self.turn:
            await self._send(
                reported_at=frame["at"],
                changed=frame["changed"],
                alive=frame["alive"],
                nodes=frame["nodes"],
                gpus=frame["gpus"],
                queue=frame["queue"],
            )

    async def _send(
        self,
        *,
        reported_at: float | None,
        changed: list[int] | None,
        alive: list[int] | None = None,
        nodes: LiveValues | None = None,
        gpus: LiveValues | None = None,
        queue: bool = False,
    ) -> None:
        frame: PoolChangedFrame = {
            "kind": "pool",
            "now": time.time(),
            "reported_at": reported_at,
            "changed": changed,
            "alive": alive or [],
            "nodes": nodes or {"ids": [], "values": {}},
            "gpus": gpus or {"ids": [], "values": {}},
            "queue": queue,
        }
        await self.send_json(frame)


def _state(user: Actor) -> tuple[dict[int, tuple[str, ...]], str, frozenset[UUID], float | None]:
    """Digests of the nodes and of the queue, the projects that the user may see, and when the agent last reported."""
    agent = newest_agent()
    reported_at = None if agent is None or agent.reported_at is None else agent.reported_at.timestamp()
    return digests(), queue_digest(), frozenset(visible_projects(user).values_list("pk", flat=True)), reported_at
