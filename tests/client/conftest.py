"""The client and its command line against the real application, in one process and one transaction."""

from collections.abc import Callable, Iterator
from typing import Any

import django
import httpx
import pytest

django.setup()

from django.core.signals import request_finished, request_started  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import close_old_connections  # noqa: E402

from accounts.api_tokens import TokenWish, create_token  # noqa: E402
from accounts.models import User  # noqa: E402
from tandem.synchronous.client import Client  # noqa: E402
from tests.web.conftest import (  # noqa: E402, F401
    admin,
    alice,
    make_project,
    make_run,
    make_spec,
    make_user,
    project,
    viewer,
)
from tests.web.gallery.conftest import adapter_event, artifact_folder, put, report, run, trained  # noqa: E402, F401

ADDRESS = "http://testserver"


class OverWsgi(httpx.BaseTransport):
    """Requests to the application as a web server hands them on; `failures` answer the first ones in its place, as a
    proxy does whose web server is away."""

    def __init__(self, *failures: httpx.Response | httpx.TransportError) -> None:
        self._application = httpx.WSGITransport(app=get_wsgi_application())
        self._failures = [*failures]
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if not self._failures:
            return self._application.handle_request(request)
        failure = self._failures.pop(0)
        if isinstance(failure, httpx.Response):
            return failure
        raise failure


@pytest.fixture(autouse=True)
def connections_outlive_requests() -> Iterator[None]:
    """As in Django's test client: the test's own transaction stands on the connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def token_of() -> Callable[..., str]:
    """`token_of(user, scopes=…)`: a new token of a user."""

    def make(user: User, **limits: Any) -> str:
        return create_token(user=user, wish=TokenWish(**limits))[1]

    return make


@pytest.fixture
def client(alice: User, token_of: Callable[..., str]) -> Iterator[Client]:  # noqa: F811
    """alice's."""
    with Client(ADDRESS, token_of(alice), transport=OverWsgi()) as made:
        yield made
