"""Server-sent events from a real server over a real connection: gapless, in order, and over when the run is."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from django.core.asgi import get_asgi_application
from django.utils import timezone

from accounts.api_tokens import TokenWish, create_token
from accounts.models import ApiToken, Membership, Project, TokenScope, User
from live.publish import flush
from runs.transitions import move
from telemetry.sockets import event_stream
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the web's HTTP application, served by uvicorn in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    served = uvicorn.Server(uvicorn.Config(get_asgi_application(), lifespan="off", log_level="warning"))
    thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]})
    thread.start()
    while not served.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    served.should_exit = True
    thread.join(10)
    listener.close()


@pytest.fixture(autouse=True)
def silence_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.3)


@pytest.fixture
def reader(server: str, driver: Any, alice: User) -> Iterator[Callable[..., Any]]:
    """`reader(query, **headers)` opens the stream of the driver's run with a token of alice that reads."""
    _, token = create_token(user=alice, wish=TokenWish(scopes=frozenset({TokenScope.READ})))
    with httpx.Client(base_url=server, timeout=10, headers={"Authorization": f"Bearer {token}"}) as client:
        yield lambda query="", **headers: client.stream(
            "GET", f"/api/v1/runs/{driver.run_id}/stream{query}", headers=headers
        )


def events(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """Each event as its fields; a comment as `{"": text}`."""
    found: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif found:
            yield found
            found = {}


def numbers(found: list[dict[str, str]]) -> list[int]:
    return [int(one["id"]) for one in found if "id" in one]


def fail(driver: Any) -> None:
    move(driver.run_id, [RunState.RUNNING], RunState.FAILED, reason="enough", actor="driver")


def test_items_come_as_the_websocket_sends_them_until_the_run_has_ended(
    driver: Any, event: Make, reader: Callable[..., Any]
) -> None:
    driver.send(event(1), event(2), event(3))
    with reader("?after_seq=1") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        told = events(answer.iter_lines())
        assert next(told) == {"retry": "2000"}
        first = next(told)
        assert (first["id"], first["event"]) == ("2", "log")
        assert json.loads(first["data"]) == driver.items[1]
        assert next(told)["id"] == "3"
        driver.send(event(4, message="live"))
        assert flush()
        live = next(one for one in told if "id" in one)
        assert json.loads(live["data"])["body"]["message"] == "live"
        fail(driver)
        *rest, last = [one for one in told if "event" in one]
    assert [one["event"] for one in rest] == ["transition"]
    assert last == {"event": "end", "data": '{"state": "failed"}'}


def test_a_client_that_connects_again_goes_on_after_what_it_saw_last(
    driver: Any, event: Make, reader: Callable[..., Any]
) -> None:
    driver.send(*(event(number) for number in range(1, 6)))
    fail(driver)
    with reader("?after_seq=0", **{"Last-Event-ID": "4"}) as answer:
        assert numbers(list(events(answer.iter_lines()))) == [5, 6]
    with reader("", **{"Last-Event-ID": "6"}) as answer:
        assert answer.status_code == 204, "by which an `EventSource` stops"


def test_a_long_stream_comes_whole_in_chunks(
    driver: Any, event: Make, reader: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "CHUNK", 7)
    driver.send(*(event(number) for number in range(1, 51)))
    fail(driver)
    with reader("?after_seq=0", Accept="text/event-stream") as answer:
        assert numbers(list(events(answer.iter_lines()))) == list(range(1, 52))


def test_in_silence_comments_come_and_what_no_frame_told_is_found(
    driver: Any, event: Make, reader: Callable[..., Any]
) -> None:
    with reader() as answer:
        told = events(answer.iter_lines())
        assert next(told) == {"retry": "2000"}
        assert next(told) == {"": "heartbeat"}
        driver.send(event(1))
        assert next(one for one in told if "id" in one)["id"] == "1"


def end_tokens() -> None:
    ApiToken.objects.update(expiry=timezone.now())


def deactivate() -> None:
    User.objects.filter(username="alice").update(is_active=False)


@pytest.mark.parametrize(
    "lose", [Membership.objects.all().delete, ApiToken.objects.all().delete, end_tokens, deactivate]
)
def test_the_stream_ends_for_who_may_see_the_run_no_more(
    driver: Any, reader: Callable[..., Any], lose: Callable[[], Any]
) -> None:
    with reader() as answer:
        told = events(answer.iter_lines())
        next(told)
        lose()
        assert all("id" not in one and "event" not in one for one in told)


def test_outsiders_and_tokens_of_other_projects_are_refused(
    server: str, driver: Any, alice: User, charlie: User, make_project: Callable[..., Project]
) -> None:
    other = make_project(owner=alice)
    address = f"{server}/api/v1/runs/{driver.run_id}/stream"
    for user, projects in ((charlie, None), (alice, frozenset({other.pk}))):
        _, token = create_token(user=user, wish=TokenWish(projects=projects))
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        assert httpx.get(address, headers=headers).status_code == 404
    assert httpx.get(address).status_code == 401


@pytest.mark.parametrize("query", ["?after_seq=-1", "?after_seq=x", "?after=1"])
def test_a_number_that_is_none_is_refused_by_name(reader: Callable[..., Any], query: str) -> None:
    with reader(query) as answer:
        assert answer.status_code == 400
        assert list(json.loads(answer.read())["errors"]) == [query[1:].partition("=")[0]]
