"""The whole matrix of requests and actors, complete by construction: an address that is not listed fails."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from tests.web.authorisation.every_address import every_request
from tests.web.authorisation.matrix import ACTORS, BODIES, BY_LEVEL, LEVEL_OF, expected
from tests.web.authorisation.world import World, build_world

pytestmark = pytest.mark.django_db


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


def answer(world: World, request: str, actor: str) -> str:
    """What the actor is answered, in the matrix's words."""
    method, _, pattern = request.partition(" ")
    client = world.client(actor)
    body = {} if method == "get" else {"data": world.filled(BODIES.get(request, {})), "format": "json"}
    place = transaction.savepoint()
    try:
        found = getattr(client, method)(world.address(pattern, actor), **body)
    finally:
        transaction.savepoint_rollback(place)
    if found.status_code == 302 and "login" in found["Location"].partition("?")[0]:
        return "login"
    assert found.status_code < 500 or found.status_code == 503, found.content
    return str(found.status_code) if found.status_code in (401, 403, 404, 405, 410) else "in"


def test_every_request_that_is_answered_has_a_level(world: World) -> None:
    found = every_request()
    assert LEVEL_OF.keys() - set(found) == set(), "a level is given for what is not there"
    forgotten = [request for request in found if request not in LEVEL_OF]
    assert [request for request in forgotten if answer(world, request, "owner") != "405"] == []


def test_no_request_has_two_levels() -> None:
    assert sum(map(len, BY_LEVEL.values())) == len(LEVEL_OF)


def test_every_actor_is_someone(world: World) -> None:
    assert set(ACTORS) == {"anonymous", *world.users, *world.tokens}


@pytest.mark.parametrize("request_", LEVEL_OF)
def test_everybody_gets_what_the_matrix_says(world: World, request_: str) -> None:
    found = {actor: answer(world, request_, actor) for actor in ACTORS}
    assert found == expected(LEVEL_OF[request_]), json.dumps(BODIES.get(request_, {}))
