"""Clients of the people in `tests/web/conftest.py`."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User

ClientOf = Callable[[User], APIClient]


@pytest.fixture
def client_of() -> ClientOf:
    def make(user: User) -> APIClient:
        client = APIClient()
        client.force_authenticate(user)
        return client

    return make


@pytest.fixture
def api(client_of: ClientOf, alice: User) -> APIClient:
    """alice's client."""
    return client_of(alice)
