"""A run's stream as server-sent events: the items of the websocket, for scripts and `curl -N`.

Invariant: a reader gets every number above where it began once, in order. Items are read from the database when the
reader has taken those before; the channel layer only says that there are new ones. So a slow reader holds one chunk of
items in memory and slows nobody, whatever happens meanwhile.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from uuid import UUID

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from accounts.access import NotVisible
from accounts.models import User
from accounts.sign_in.still_signed_in import is_still_signed_in
from live.publish import run_group
from runs.models import Run
from runs.selectors import get_run
from telemetry import selectors
from telemetry.stream_items import Item
from worker.contracts.states import END_STATES

CHUNK = 500
"""Items that are read at once."""
HEARTBEAT_SECONDS = 5.0
"""Seconds of silence before a comment, which keeps proxies from closing; then the database is asked too, because the
channel layer delivers at most once, and whether the reader still may."""
MIN_SECONDS_BETWEEN_READS = 0.2
"""A busy run publishes twenty times a second; a script need not read as often."""
RETRY_MILLISECONDS = 2000
"""After which a reader whose connection broke asks again, with the number that it saw last."""
HEARTBEAT = ": heartbeat\n\n"


async def event_stream(user: User, run_id: UUID, after_seq: int, *, session_key: str | None) -> AsyncIterator[str]:
    """The items above `after_seq`, then each new one, until the run has ended and all was told, or the user may not see
    it any more. `session_key` is of the session by which the user came, if any."""
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    async with _news_of(run_id) as news:
        while True:
            news.clear()
            # Read before the items: whatever came before an end is then among them.
            run = await database_sync_to_async(_visible_run)(user, run_id, session_key)
            if run is None:
                return
            while items := await database_sync_to_async(selectors.stream_items)(
                run_id, after_seq=after_seq, limit=CHUNK
            ):
                yield "".join(map(_event, items))
                after_seq = items[-1]["stream_seq"]
            if run.run_state in END_STATES:
                yield f"event: end\ndata: {json.dumps({'state': run.state})}\n\n"
                return
            await asyncio.sleep(MIN_SECONDS_BETWEEN_READS)
            try:
                await asyncio.wait_for(news.wait(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield HEARTBEAT


@contextlib.asynccontextmanager
async def _news_of(run_id: UUID) -> AsyncIterator[asyncio.Event]:
    """An event that is set whenever something of the run was published. The frames themselves are dropped, so that
    they do not pile up while a reader is slow."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    news = asyncio.Event()

    async def listen() -> None:
        while True:
            await layer.receive(channel)
            news.set()

    await layer.group_add(run_group(run_id), channel)
    listener = asyncio.create_task(listen())
    try:
        yield news
    finally:
        listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listener
        await layer.group_discard(run_group(run_id), channel)


def _visible_run(user: User, run_id: UUID, session_key: str | None) -> Run | None:
    """The run; `None` where the user may not see it any more, or is no longer signed in."""
    try:
        return get_run(user, run_id) if is_still_signed_in(user, session_key) else None
    except NotVisible:
        return None


def _event(item: Item) -> str:
    data = json.dumps(item, separators=(",", ":"))
    return f"id: {item['stream_seq']}\nevent: {item['type']}\ndata: {data}\n\n"
