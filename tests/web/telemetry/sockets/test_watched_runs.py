"""A driver is told whether anybody watches its run, over the real channel layer."""

from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from redis.exceptions import ConnectionError

from accounts.models import User
from tests.web.telemetry.sockets.socket_scenarios import scenario, socket

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., dict[str, Any]]


def test_a_driver_is_told_whether_anybody_watches_its_run(driver: Any, event: Make, alice: User) -> None:
    assert not driver.send(event(1)).is_watched

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}", alice) as opened:
            assert (await opened.frame())["kind"] == "hello"
            heartbeat = await database_sync_to_async(driver.send)()
            assert heartbeat.is_watched
        assert not (await database_sync_to_async(driver.send)()).is_watched, "the socket is closed"

    scenario(act)


def test_a_driver_is_answered_while_the_broker_is_away(
    driver: Any, event: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise ConnectionError("away")

    monkeypatch.setattr("live.watching.broker", away)
    assert driver.send(event(1)).acknowledged == 1
