"""Clients of the people in `tests/web/conftest.py`; they hold every answer against the schema."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from tests.web.contract import CheckedClient

ClientOf = Callable[[User], APIClient]


@pytest.fixture
def client_of() -> ClientOf:
    def make(user: User) -> APIClient:
        client = CheckedClient()
        client.force_authenticate(user)
        return client

    return make


@pytest.fixture
def pool_admin(client_of: ClientOf, admin: User) -> APIClient:
    return client_of(admin)


@pytest.fixture
def api(client_of: ClientOf, alice: User) -> APIClient:
    """alice's client."""
    return client_of(alice)
