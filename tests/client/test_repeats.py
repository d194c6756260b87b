"""What is sent again after a failure, and what is not."""

from collections.abc import Callable

import httpx
import pytest

from accounts.models import Project, User
from runs.models import Run
from tandem import Client, NotFound, NotSignedIn, RateLimited, ServerError, Unreachable
from tandem.protocol import MAX_REPEATS, local_path, wait_before_repeat
from tests.client.conftest import ADDRESS, OverWsgi
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
NOW = {"Retry-After": "0"}


def test_a_lost_answer_to_a_post_is_repeated_and_done_once(
    alice: User, project: Project, token_of: Callable[..., str], make_spec: Callable[..., RunSpec]
) -> None:
    class LosesTheFirstAnswer(OverWsgi):
        """The request arrives, and the connection breaks before its answer does."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            posts = [each for each in self.requests if each.method == "POST"]
            if request.method == "POST" and len(posts) == 1:
                raise httpx.ReadError("connection reset")
            return response

    transport = LosesTheFirstAnswer()
    with Client(ADDRESS, token_of(alice), transport=transport) as client:
        made = client.runs.create(make_spec().to_yaml(), name="once")
    assert [str(run.pk) for run in Run.objects.all()] == [made.id]
    keys = [request.headers["Idempotency-Key"] for request in transport.requests if request.method == "POST"]
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_a_busy_server_is_asked_again_when_it_says(alice: User, token_of: Callable[..., str]) -> None:
    transport = OverWsgi(httpx.Response(429, headers=NOW), httpx.Response(503, headers=NOW))
    with Client(ADDRESS, token_of(alice), transport=transport) as client:
        assert client.me().username == "alice"
    assert len(transport.requests) == 3


@pytest.mark.parametrize(
    ("status", "kind"), [(429, RateLimited), (502, ServerError)], ids=["rate limited", "server error"]
)
def test_repeats_end(alice: User, token_of: Callable[..., str], status: int, kind: type[Exception]) -> None:
    transport = OverWsgi(*[httpx.Response(status, headers=NOW)] * 9)
    with Client(ADDRESS, token_of(alice), transport=transport) as client, pytest.raises(kind, match=str(status)):
        client.me()
    assert len(transport.requests) == 1 + MAX_REPEATS


def test_a_delete_is_not_repeated(alice: User, token_of: Callable[..., str]) -> None:
    transport = OverWsgi(httpx.Response(503, headers=NOW))
    with Client(ADDRESS, token_of(alice), transport=transport) as client, pytest.raises(ServerError):
        client.tokens.revoke("any")
    assert len(transport.requests) == 1


def test_a_change_that_came_too_early_is_repeated(alice: User, token_of: Callable[..., str]) -> None:
    transport = OverWsgi(httpx.Response(429, headers=NOW))
    with Client(ADDRESS, token_of(alice), transport=transport) as client, pytest.raises(NotFound):
        client.tokens.revoke("any")
    assert len(transport.requests) == 2


def test_waiting_for_a_run_outlasts_the_replacement_of_a_server(
    alice: User, token_of: Callable[..., str], project: Project, make_run: Callable[..., Run]
) -> None:
    run = make_run(project=project)
    Run.objects.update(state="completed")
    away = [httpx.Response(503, headers=NOW)] * (2 * MAX_REPEATS)
    transport = OverWsgi()
    with Client(ADDRESS, token_of(alice), transport=transport) as client:
        found = client.runs.get(str(run.pk))
        transport._failures.extend(away)
        assert found.wait().state == "completed"
        transport._failures.extend(away)
        with pytest.raises(ServerError):
            found.reload()


def test_an_answer_that_cannot_be_decompressed_is_no_traceback_of_its_own(token_of: Callable[..., str]) -> None:
    garbled = httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip"))
    with Client(ADDRESS, "t", transport=OverWsgi(garbled)) as client, pytest.raises(Unreachable, match="decompressed"):
        client.me()


def test_what_is_not_tandem_is_told_apart(token_of: Callable[..., str]) -> None:
    page = httpx.Response(200, headers={"Content-Type": "text/html"}, content=b"<html>")
    moved = httpx.Response(301, headers={"Location": "https://elsewhere/"})
    for answer, message in ((page, "answered with text/html"), (moved, "redirects to https://elsewhere/")):
        with Client(ADDRESS, "t", transport=OverWsgi(answer)) as client, pytest.raises(Unreachable, match=message):
            client.me()
    with pytest.raises(NotSignedIn, match="must begin with http"):
        Client("tandem.example.org", "t")


def test_waits_grow_and_are_bounded() -> None:
    waits = [wait_before_repeat("GET", repeats, None, None) for repeats in range(MAX_REPEATS + 1)]
    assert waits[-1] is None
    assert all(0.375 * 2**n <= (wait or 0) <= 0.625 * 2**n for n, wait in enumerate(waits[:-1]))
    assert wait_before_repeat("GET", 0, 429, "100000") == 90
    assert wait_before_repeat("GET", 0, 404, None) is None
    assert wait_before_repeat("PATCH", 0, 503, None) is None


def test_the_token_stays_with_its_server_whatever_an_answer_names() -> None:
    assert local_path("https://evil.example/api/v1/runs?cursor=a") == "/api/v1/runs?cursor=a"
