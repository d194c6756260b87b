"""`AsyncClient`, from which `Client` is written."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from accounts.models import Project, User
from runs.models import Run
from tandem import AsyncClient
from tests.client.conftest import ADDRESS, OverWsgi

pytestmark = pytest.mark.django_db


class AwaitedWsgi(httpx.AsyncBaseTransport):
    """The application, answering at once."""

    def __init__(self) -> None:
        self._application = OverWsgi()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answered = self._application.handle_request(request)
        return httpx.Response(answered.status_code, headers=answered.headers, content=answered.read())


def finish(coroutine: Coroutine[Any, Any, None]) -> None:
    """Runs what never waits. Not in an event loop, where Django takes another connection than the test's."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_runs_are_listed_read_and_cancelled(
    alice: User, project: Project, make_run: Callable[..., Run], token_of: Callable[..., str]
) -> None:
    names = {make_run(project=project, name=f"r{number}").name for number in range(3)}

    async def work(token: str) -> None:
        async with AsyncClient(ADDRESS, token, transport=AwaitedWsgi()) as client:
            assert {run.name async for run in client.runs.list()} == names
            run = await client.runs.get("r1")
            await run.cancel()
            assert (await run.wait()).state == "cancelled"

    finish(work(token_of(alice)))
    assert Run.objects.get(name="r1").state == "cancelled"


def test_a_cancelled_download_leaves_no_file(tmp_path: Path) -> None:
    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"first bytes"
            begun.set()
            await asyncio.Event().wait()

    async def work() -> None:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Endless()))
        async with AsyncClient(ADDRESS, "t", transport=transport) as client:
            download = asyncio.create_task(client._session.download("/file", tmp_path / "kept" / "w.bin"))
            await begun.wait()
            assert len(list((tmp_path / "kept").iterdir())) == 1
            download.cancel()
            with pytest.raises(asyncio.CancelledError):
                await download

    begun = asyncio.Event()
    asyncio.run(work())
    assert list((tmp_path / "kept").iterdir()) == []
