"""The description of the websockets: every socket, with the frames that the tests of sockets hold them to."""

import json
from pathlib import Path

import jsonschema_rs
from rest_framework.test import APIClient

from telemetry.sockets.routing import websocket_urlpatterns
from tests.web.telemetry.sockets.socket_scenarios import COMPONENTS

OFFICIAL = Path(__file__).parents[3] / "frontend/node_modules/@asyncapi/specs/schemas/3.0.0.json"
"""The schema that AsyncAPI publishes, which its own validators use; pinned by `frontend/contract`."""


def test_it_is_an_asyncapi_document() -> None:
    document = APIClient().get("/api/v1/asyncapi").json()
    validator = jsonschema_rs.validator_for(json.loads(OFFICIAL.read_text()))
    problems = [
        f"{'/'.join(map(str, one.instance_path))}: {one.message[:200]}" for one in validator.iter_errors(document)
    ]
    assert problems == []
    broken = {**document, "operations": {"sendRun": {"action": "shout"}}}
    assert not validator.is_valid(broken)


def test_each_alternative_of_a_frame_names_its_kind() -> None:
    schemas = APIClient().get("/api/v1/asyncapi").json()["components"]["schemas"]
    for frame in COMPONENTS.values():
        kinds = [
            schemas[each["$ref"].rpartition("/")[2]]["properties"]["kind"]["const"] for each in schemas[frame]["oneOf"]
        ]
        assert len(set(kinds)) == len(kinds) > 1


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
