"""One world for all requests."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from tests.web.every_address.world import World, build_world


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Built once. Each request is undone by a savepoint, the world by the transaction around all of them."""
    folder = tmp_path_factory.mktemp("artifacts")
    with (
        override_settings(TANDEM_ARTIFACTS=f"file://{folder}"),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        yield build_world(folder)
        transaction.set_rollback(True)
