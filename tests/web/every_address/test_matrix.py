"""The whole matrix of requests and actors, complete by construction: an address that is not listed fails."""

import json

import pytest
from django.db import transaction

from tests.web.every_address.answered_requests import every_request
from tests.web.every_address.matrix import ACTORS, BODIES, BY_LEVEL, LEVEL_OF, expected
from tests.web.every_address.world import World

pytestmark = pytest.mark.django_db


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
