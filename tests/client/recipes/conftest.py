"""Readers of the recipes on the real application, without a driver or a GPU."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import User
from tests.client.recipes.reader import Reader, readers_at
from tests.client.recipes.served_application import Served, serving
from tests.web.hooks.conftest import make_webhook, receiver  # noqa: F401
from tests.web.runs.conftest import cluster, live_run, reconciler, web  # noqa: F401

TIMEOUT_SECONDS = 20.0


@pytest.fixture
def served(db: None) -> Iterator[Served]:
    with serving() as application:
        yield application


@pytest.fixture
def reader_as(served: Served, token_of: Callable[..., str], tmp_path: Path) -> Iterator[Callable[..., Reader]]:
    """`reader_as(user, scopes=…)`: a reader who is signed in with a token of that user."""
    with readers_at(served.url, tmp_path, timeout_seconds=TIMEOUT_SECONDS) as sign_in:

        def sign_in_as(user: User, **limits: object) -> Reader:
            return sign_in(token_of(user, **limits))

        yield sign_in_as
