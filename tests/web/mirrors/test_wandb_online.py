"""A run in W&B, online: the real package, through the proxy, to a server that keeps what it is sent."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from catalog.models import Mirror, MirrorKind
from mirrors.models import MirroringState
from runs.transitions import move
from tests.web.mirrors.conftest import Driver, MakeMirror, round_killed_when, round_now, stored_points
from tests.web.mirrors.wandb_server import WandbServer, wandb_server
from worker.contracts.states import RunState

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
KEY = "0123456789" * 4


@pytest.fixture
def server(settings: Any) -> Iterator[WandbServer]:
    settings.TANDEM_MIRROR_HOSTS = ["127.0.0.1"]
    with wandb_server() as opened:
        yield opened


@pytest.fixture
def mirror(server: WandbServer, make_mirror: MakeMirror) -> Mirror:
    return make_mirror(MirrorKind.WANDB, address=server.url, place="team/shapes", credential=KEY)


def test_a_resumed_run_is_sent_what_it_lacks_and_nothing_twice(
    driver: Driver, mirror: Mirror, server: WandbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.train(1, 2)
    contents = driver.upload(driver.sample(2))
    assert round_now().error == ""
    assert len(server.rows) == 3
    driver.train(3)
    row = round_killed_when(lambda: len(server.rows) > 3, monkeypatch)
    assert (row.batch, row.num_failures) == (2, 1)
    driver.train(4)
    move(driver.run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="all done", actor="driver")
    row = round_now()
    assert (row.error, row.state) == ("", MirroringState.DONE)

    rows, wanted = server.rows, stored_points(driver.run)
    keys = {key for key, _, _ in wanted}
    found = [(key, row["batch"], row[key]) for row in rows for key in sorted(keys & row.keys())]
    assert (set(found), len(found)) == (wanted, len(wanted))
    pictures = {name for name in server.files if name.endswith(".png")}
    assert len(pictures) == len(contents)
    assert server.config["batch"] == driver.run.spec["batch"]
    assert server.keys == {"Basic " + base64.b64encode(f"api:{KEY}".encode()).decode()}
    assert row.url == f"{server.url}/team/shapes/runs/{driver.run.pk.hex}"
