"""The description of the websockets: every socket, with the frames that the tests of sockets hold them to."""

import json

from rest_framework.test import APIClient

from telemetry.sockets.routing import websocket_urlpatterns
from tests.web.telemetry.sockets.socket_scenarios import COMPONENTS


def test_every_socket_is_described_with_the_frames_it_sends() -> None:
    document = APIClient().get("/api/v1/asyncapi").json()
    channels = {channel["address"]: channel for channel in document["channels"].values()}
    assert len(channels) == len(websocket_urlpatterns)
    for address, channel in channels.items():
        assert list(channel["messages"]) == [COMPONENTS.get(address.rpartition("/")[2], "RunFrame")]
        assert "token" in channel["bindings"]["ws"]["query"]["properties"]
    assert list(channels["/ws/v1/runs/{run_id}"]["parameters"]) == ["run_id"]
    assert [operation["action"] for operation in document["operations"].values()] == ["send"] * len(channels)


def test_every_reference_of_it_leads_somewhere() -> None:
    document = APIClient().get("/api/v1/asyncapi").json()
    references = [part.split('"')[0] for part in json.dumps(document).split('"$ref": "#/')[1:]]
    for reference in references:
        place = document
        for name in reference.split("/"):
            place = place[name]
