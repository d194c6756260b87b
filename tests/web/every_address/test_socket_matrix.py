"""Every websocket for every actor of the matrix, complete by construction."""

from pathlib import Path

import pytest

from telemetry.sockets.routing import websocket_urlpatterns
from tests.web.every_address.matrix import ACTORS
from tests.web.every_address.world import build_world
from tests.web.telemetry.sockets.socket_scenarios import Socket, scenario, socket

pytestmark = pytest.mark.django_db(transaction=True)
# In the order of `ACTORS`, as in `matrix`. A socket that is refused is closed with 4404.
SOCKETS = {
    "ws/v1/runs/<uuid:run_id>": "4404 | 4404 in in in 4404 4404 | in 4404 4404 4404 | 4404 4404",
    "ws/v1/projects": "4404 | in in in in in in | in 4404 4404 in | 4404 4404",
    "ws/v1/pool": "4404 | in in in in in in | in 4404 4404 in | 4404 4404",
}


def test_every_socket_has_a_row() -> None:
    assert SOCKETS.keys() == {str(entry.pattern) for entry in websocket_urlpatterns}


async def answer(opened: Socket) -> str:
    message = await opened.receive_output(5)
    return str(message["code"]) if message["type"] == "websocket.close" else "in"


def test_everybody_gets_the_sockets_that_the_matrix_says(tmp_path: Path) -> None:
    world = build_world(tmp_path)
    found: dict[str, dict[str, str]] = {pattern: {} for pattern in SOCKETS}

    async def act() -> None:
        for pattern, answers in found.items():
            for actor in ACTORS:
                query = f"?token={world.tokens[actor]}" if actor in world.tokens else ""
                async with socket(world.address(pattern, actor) + query, world.users.get(actor)) as opened:
                    answers[actor] = await answer(opened)

    scenario(act)
    assert found == {
        pattern: dict(zip(ACTORS, row.replace("|", "").split(), strict=True)) for pattern, row in SOCKETS.items()
    }
