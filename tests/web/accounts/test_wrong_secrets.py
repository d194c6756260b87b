"""Whoever tries one wrong token or code after another is told to wait, by address; who repeats one is not."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from redis.exceptions import ConnectionError as BrokerAway

from accounts import wrong_secrets
from accounts.api_tokens import TokenWish, create_token
from accounts.models import User
from live.broker import broker

pytestmark = pytest.mark.django_db
MAX_WRONG = 30
_hosts = itertools.count(1)
Guess = Callable[[Client, str], Any]


@pytest.fixture(autouse=True)
def minute(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The limit, in a minute that does not end while a test runs."""
    monkeypatch.setattr(time, "time", lambda: 90.0)
    # All other tests come from one address, and have no limit.
    monkeypatch.setattr(wrong_secrets, "MAX_WRONG", MAX_WRONG)
    yield
    cache.clear()


@pytest.fixture
def visitor() -> Client:
    return Client(REMOTE_ADDR=f"198.19.{next(_hosts)}.1")


def token_of(client: Client, secret: str) -> Any:
    return client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})


def code_of(path: str) -> Guess:
    def guess(client: Client, secret: str) -> Any:
        body = {"code": f"1.{secret}"}
        return client.post(f"/api/ingest/v1/{path}", body, content_type="application/json")

    return guess


def run_token_of(client: Client, secret: str) -> Any:
    path = "/api/ingest/v1/runs/0b0b6d3c-43b4-4a4c-9d4e-000000000000/attempts/1/prompts"
    return client.get(path, headers={"Authorization": f"Bearer {secret}"})


GUESSES = {
    "API token": token_of,
    "run token": run_token_of,
    **{path: code_of(path) for path in ("bootstrap", "nodes/bootstrap", "gpu-tests/bootstrap", "previews/bootstrap")},
}


@pytest.mark.parametrize("kind", GUESSES)
def test_an_address_that_tries_many_wrong_secrets_is_told_to_wait(visitor: Client, kind: str) -> None:
    answers = [GUESSES[kind](visitor, f"guess-{number}") for number in range(MAX_WRONG + 1)]
    assert [answer.status_code for answer in answers] == [401] * MAX_WRONG + [429]
    assert answers[-1].headers["Retry-After"] == "30"
    assert answers[-1].headers["Content-Type"] == "application/problem+json"


def test_the_right_token_opens_and_other_addresses_are_told_what_is_wrong(visitor: Client, alice: User) -> None:
    """Else whoever shares a proxy with others could close the API to them."""
    _, token = create_token(user=alice, wish=TokenWish())
    for number in range(MAX_WRONG + 1):
        code_of("bootstrap")(visitor, f"guess-{number}")
    assert token_of(visitor, "another").status_code == 429
    assert token_of(visitor, token).status_code == 200
    assert token_of(Client(REMOTE_ADDR="198.18.255.1"), "another").status_code == 401


def test_an_administrator_reads_of_it_in_the_log(visitor: Client, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(MAX_WRONG + 1):
        token_of(visitor, f"guess-{number}")
    assert f"has tried {MAX_WRONG + 1} different wrong tokens or codes in a minute" in caplog.text
    assert "guess-" not in caplog.text


def test_a_script_that_goes_on_with_its_expired_token_closes_nothing(visitor: Client, alice: User) -> None:
    _, token = create_token(user=alice, wish=TokenWish())
    assert {token_of(visitor, "expired").status_code for _ in range(2 * MAX_WRONG)} == {401}
    assert token_of(visitor, token).status_code == 200


def test_tokens_open_without_the_broker(visitor: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise BrokerAway("connection refused")

    _, token = create_token(user=alice, wish=TokenWish())
    monkeypatch.setattr(broker(), "pipeline", fail)
    assert token_of(visitor, "wrong").status_code == 401
    assert token_of(visitor, token).status_code == 200
