"""A token's requests are counted by the minute; pages' requests are not."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from redis.exceptions import ConnectionError as BrokerAway
from rest_framework.test import APIClient

from accounts.models import User
from api.rate_limits import WINDOW_SECONDS
from live.broker import broker
from tests.web.api.token_clients import with_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def limit(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Three requests in a minute that does not end while a test runs."""
    settings.TANDEM_REQUESTS_PER_MINUTE = 3
    middle = (time.time() // WINDOW_SECONDS + 0.5) * WINDOW_SECONDS
    monkeypatch.setattr(time, "time", lambda: middle)
    yield 3
    cache.clear()


def test_a_token_is_told_what_is_left_and_then_to_wait(alice: User, limit: int) -> None:
    client = with_token(alice)
    left = [client.get("/api/v1/me").headers["X-RateLimit-Remaining"] for _ in range(limit)]
    assert left == ["2", "1", "0"]
    refused = client.get("/api/v1/me")
    assert refused.status_code == 429
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.headers["Retry-After"] == "30"
    assert refused.headers["X-RateLimit-Limit"] == "3"


def test_another_token_of_the_same_user_has_its_own_minute(alice: User, limit: int) -> None:
    first, second = with_token(alice), with_token(alice)
    for _ in range(limit + 1):
        first.get("/api/v1/me")
    assert first.get("/api/v1/me").status_code == 429
    assert second.get("/api/v1/me").status_code == 200


def test_the_next_minute_is_whole_again(alice: User, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    client = with_token(alice)
    for _ in range(limit + 1):
        refused = client.get("/api/v1/me")
    monkeypatch.setattr(time, "time", lambda: float(refused.headers["X-RateLimit-Reset"]))
    assert client.get("/api/v1/me").headers["X-RateLimit-Remaining"] == str(limit - 1)


def test_pages_are_not_counted(api: APIClient, limit: int) -> None:
    answers = [api.get("/api/v1/me") for _ in range(2 * limit)]
    assert {answer.status_code for answer in answers} == {200}
    assert "X-RateLimit-Limit" not in answers[-1].headers


def test_reading_goes_on_without_the_broker(alice: User, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise BrokerAway("connection refused")

    monkeypatch.setattr(broker(), "pipeline", fail)
    client = with_token(alice)
    assert [client.get("/api/v1/me").status_code for _ in range(limit + 1)] == [200] * (limit + 1)
