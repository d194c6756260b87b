"""Authorised websockets: a run's stream without gaps, and the changes of all runs that a user may see.

The run socket subscribes first, replays from the database, then forwards live frames, without items that it has sent
already (by `stream_seq`). Pub/sub delivers at most once, so after a gap, and at every poll, items are read from the
database. Invariant: a client gets every number above its `after_seq` once, in order.
"""

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth.models import AnonymousUser

from accounts.access import Actor, NotVisible, visible_projects
from accounts.models import User
from live.publish import project_group, run_group, user_group
from runs.models import Run
from runs.selectors import get_run, run_body_for
from telemetry import selectors
from telemetry.sockets.frames import HeartbeatFrame, HelloFrame, ItemsFrame, RunChangedFrame, SnapshotFrame
from telemetry.sockets.socket_auth import query_of, require_signed_in, user_of
from telemetry.stream_items import Item

NOT_VISIBLE = 4404
"""Close code for outsiders, and for runs that do not exist; the two are deliberately the same."""
BAD_REQUEST = 4400
SERVER_ERROR = 1011
MAX_REPLAY = 5000
"""Most items that are replayed; a client further behind gets a snapshot instead."""
REPLAY_CHUNK = 500
POLL_SECONDS = 5.0
"""Seconds between two polls of the database, which find items that pub/sub lost and members who were removed."""
HEARTBEAT_SECONDS = 3.0
"""Seconds between two heartbeats. Clients call a connection lost after 8 s of silence, two heartbeats and a margin for
slow networks: see `frontend/src/live/live_socket.ts`."""


class RefreshingConsumer(AsyncJsonWebsocketConsumer, ABC):
    """Accepts users with permission, then refreshes every `POLL_SECONDS` and sends a heartbeat every
    `HEARTBEAT_SECONDS`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.turn = asyncio.Lock()
        """Lock held while frames are sent, since live frames and the poll must not interleave."""
        self.user: Actor = AnonymousUser()
        self._poller: asyncio.Task[None] | None = None
        self._heart: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        self.user = await database_sync_to_async(user_of)(self.scope)
        if isinstance(self.user, User):
            await self.channel_layer.group_add(user_group(self.user.pk), self.channel_name)
        if await self._close_on_refusal(self.begin):
            self._heart = asyncio.create_task(self._beat())
            self._poller = asyncio.create_task(self._poll())

    async def disconnect(self, code: int) -> None:
        self._stop_heart()
        if self._poller is not None:
            self._poller.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._poller
        if isinstance(self.user, User):
            await self.channel_layer.group_discard(user_group(self.user.pk), self.channel_name)
        await self.end()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Close: clients have nothing to say. Channels would raise for what is no JSON, and leave the tasks behind."""
        await self._close(BAD_REQUEST)

    async def user_signed_out(self, frame: dict[str, Any]) -> None:
        """Close at once what is revoked; the poll finds it too, should this frame be lost."""
        limits = self.user.token_limits if isinstance(self.user, User) else None
        if "" in frame["token_keys"] or (limits is not None and limits.token_key in frame["token_keys"]):
            await self._close(NOT_VISIBLE)

    @abstractmethod
    async def begin(self) -> None:
        """Subscribe and send the beginning. Raises `NotVisible`, or `ValueError` for parameters that mean nothing."""

    @abstractmethod
    async def refresh(self) -> None:
        """Send missed items. Raises `NotVisible` for users who have lost permission."""

    @abstractmethod
    async def end(self) -> None:
        """Unsubscribe."""

    async def _close_on_refusal(self, act: Callable[[], Awaitable[None]]) -> bool:
        try:
            async with self.turn:
                await act()
        except NotVisible:
            await self._close(NOT_VISIBLE)
        except ValueError:
            await self._close(BAD_REQUEST)
        else:
            return True
        return False

    async def _poll(self) -> None:
        try:
            await asyncio.sleep(POLL_SECONDS)
            while await self._close_on_refusal(self._refresh):
                await asyncio.sleep(POLL_SECONDS)
        except Exception:
            # A socket that cannot poll any more is closed, so that the client opens a new one. `disconnect` re-raises.
            await self._close(SERVER_ERROR)
            raise

    async def _refresh(self) -> None:
        await database_sync_to_async(require_signed_in)(self.scope, self.user)
        await self.refresh()

    async def _close(self, code: int) -> None:
        self._stop_heart()
        await self.close(code)

    def _stop_heart(self) -> None:
        """After the close nothing may be sent."""
        if self._heart is not None:
            self._heart.cancel()

    async def _beat(self) -> None:
        # Apart from the poll: a slow database is no lost connection. A heartbeat may stand between any two frames, so
        # that it waits for no lock.
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self.send_heartbeat()

    async def send_heartbeat(self) -> None:
        frame: HeartbeatFrame = {"kind": "heartbeat", "now": time.time()}
        await self.send_json(frame)


class RunConsumer(RefreshingConsumer):
    """`/ws/v1/runs/{id}?after_seq=N`: hello, then a snapshot or the items after N, then every new item."""

    run_id: UUID
    last_seq = 0

    async def begin(self) -> None:
        self.run_id = self.scope["url_route"]["kwargs"]["run_id"]
        asked = query_of(self.scope).get("after_seq")
        after_seq = None if asked is None else int(asked)
        await self._run()
        await self.channel_layer.group_add(run_group(self.run_id), self.channel_name)
        newest = await database_sync_to_async(selectors.last_stream_seq)(self.run_id)
        hello: HelloFrame = {"kind": "hello", "stream_seq": newest, "now": time.time()}
        await self.send_json(hello)
        if after_seq is None or not 0 <= newest - after_seq <= MAX_REPLAY:
            await self._send_snapshot(newest)
        else:
            self.last_seq = after_seq
        await self._catch_up()

    async def refresh(self) -> None:
        await self._run()
        await self._catch_up()

    async def end(self) -> None:
        if hasattr(self, "run_id"):
            await self.channel_layer.group_discard(run_group(self.run_id), self.channel_name)

    async def run_items(self, frame: dict[str, Any]) -> None:
        """Forward a live frame; after a gap, read the items from the database instead."""
        async with self.turn:
            fresh = [item for item in frame["items"] if item["stream_seq"] > self.last_seq]
            if fresh and fresh[-1]["stream_seq"] - self.last_seq == len(fresh):
                await self._send_items(fresh)
            elif frame["last_seq"] > self.last_seq:
                await self._catch_up()

    async def _run(self) -> Run:
        return await database_sync_to_async(get_run)(self.user, self.run_id)

    async def _send_snapshot(self, newest: int) -> None:
        # `newest` was read before the row: later changes in the row are sent again as items, never left out.
        body = await database_sync_to_async(run_body_for)(self.user, await self._run())
        lanes = await database_sync_to_async(selectors.lanes_of)(self.run_id)
        snapshot: SnapshotFrame = {"kind": "snapshot", "stream_seq": newest, "run": body, "lanes": lanes}
        await self.send_json(snapshot)
        self.last_seq = newest

    async def _catch_up(self) -> None:
        read = database_sync_to_async(selectors.stream_items)
        while items := await read(self.run_id, after_seq=self.last_seq, limit=REPLAY_CHUNK):
            await self._send_items(items)

    async def _send_items(self, items: list[Item]) -> None:
        frame: ItemsFrame = {"kind": "items", "items": items}
        await self.send_json(frame)
        self.last_seq = items[-1]["stream_seq"]


class ProjectsConsumer(RefreshingConsumer):
    """`/ws/v1/projects`: a heartbeat, then a `run_changed` frame for each changed run of the user's projects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._groups: set[str] = set()

    async def begin(self) -> None:
        if not self.user.is_authenticated:
            raise NotVisible("log in first")
        await self.refresh()
        await self.send_heartbeat()

    async def refresh(self) -> None:
        """Follow the user's memberships: join new projects, leave those that are no longer visible."""
        visible = await database_sync_to_async(_project_groups)(self.user)
        for group in visible - self._groups:
            await self.channel_layer.group_add(group, self.channel_name)
        for group in self._groups - visible:
            await self.channel_layer.group_discard(group, self.channel_name)
        self._groups = visible

    async def end(self) -> None:
        for group in self._groups:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def project_runs(self, frame: dict[str, Any]) -> None:
        for run in frame["runs"]:
            changed: RunChangedFrame = {"kind": "run_changed", "run": run}
            await self.send_json(changed)


def _project_groups(user: Actor) -> set[str]:
    return {project_group(project_id) for project_id in visible_projects(user).values_list("pk", flat=True)}
