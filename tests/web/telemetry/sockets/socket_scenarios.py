"""Websocket clients for tests: over the real channel layer, each frame held against the schema."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from django.contrib.sessions.backends.base import SessionBase

from accounts.models import User
from telemetry.sockets.routing import websocket_urlpatterns
from tests.web.contract import check_component

COMPONENTS = {"projects": "ProjectsFrame", "pool": "PoolFrame"}
"""Of frames by the end of the socket's address; all others are those of a run."""


class Socket(ApplicationCommunicator):
    """A websocket client of the ASGI application, which holds every frame against the schema."""

    async def frame(self, timeout: float = 5) -> dict[str, Any]:
        message = await self.receive_output(timeout)
        assert message["type"] == "websocket.send", message
        frame = dict(json.loads(message["text"]))
        check_component(frame, COMPONENTS.get(self.scope["path"].split("/")[-1], "RunFrame"))
        return frame

    async def close_code(self) -> int:
        message = await self.receive_output(5)
        assert message["type"] == "websocket.close", message
        return int(message["code"])


@asynccontextmanager
async def socket(address: str, user: User | None, session: SessionBase | None = None) -> AsyncIterator[Socket]:
    path, _, query = address.partition("?")
    scope: dict[str, Any] = {
        "type": "websocket",
        "path": path,
        "query_string": query.encode(),
        "headers": [],
        "user": user,
        "session": session,
    }
    opened = Socket(URLRouter(websocket_urlpatterns), scope)
    try:
        await opened.send_input({"type": "websocket.connect"})
        assert (await opened.receive_output(5))["type"] == "websocket.accept"
        yield opened
    finally:
        await opened.send_input({"type": "websocket.disconnect", "code": 1000})
        await opened.wait(5)


def scenario(act: Callable[[], Awaitable[None]]) -> None:
    """Run `act` on a loop of its own and close the channel layer's connections of that loop."""

    async def whole() -> None:
        try:
            await act()
        finally:
            await get_channel_layer().flush()

    async_to_sync(whole)()
