"""The node agent's HTTP interface: a code is good once, and only the newest agent is listened to."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from fleet.models import Node, NodeAgent
from fleet.reports.node_agents import CODE_LIFETIME, new_agent
from tests.web.fleet.node_posts import alive, card, report
from worker.contracts.node_reports import AGENT_BOOTSTRAP_PATH, AGENT_HEADER, REPORTS_PATH, NodeReports

pytestmark = pytest.mark.django_db


def bootstrap(client: Client, code: str) -> Any:
    return client.post(AGENT_BOOTSTRAP_PATH, {"code": code}, content_type="application/json")


def started(client: Client) -> dict[str, str]:
    """Headers of an agent that has used its code."""
    _, code = new_agent()
    answer = bootstrap(client, code).json()
    return {"Authorization": f"Bearer {answer['token']}", AGENT_HEADER: answer["session"]}


def post(client: Client, headers: dict[str, str], body: str | None = None) -> Any:
    node = alive("gpu0")
    whole = NodeReports(alive=(node,), nodes=(report(node, card("GPU-a", 0)),)).model_dump_json()
    return client.post(REPORTS_PATH, whole if body is None else body, content_type="application/json", headers=headers)


def test_reports_make_nodes_of_an_agent_with_a_token(client: Client) -> None:
    assert post(client, started(client)).status_code == 204
    assert Node.objects.get().gpus.get().uuid == "GPU-a"


def test_a_code_is_good_once_and_for_five_minutes(client: Client) -> None:
    _, code = new_agent()
    assert bootstrap(client, code).status_code == 200
    assert bootstrap(client, code).status_code == 401
    _, late = new_agent()
    NodeAgent.objects.update(code_expires_at=timezone.now() - CODE_LIFETIME)
    assert bootstrap(client, late).status_code == 401


@pytest.mark.parametrize("code", ["", "x", "x.y", "00000000-0000-4000-8000-000000000000.y", "\0", "9" * 10_000])
def test_a_code_that_is_none_is_refused(client: Client, code: str) -> None:
    assert bootstrap(client, code).status_code in (401, 422)


def test_an_older_agent_is_told_that_it_is_followed(client: Client) -> None:
    first = started(client)
    NodeAgent.objects.update(created_at=timezone.now() - timedelta(seconds=1))
    second = started(client)
    assert post(client, first).status_code == 410
    assert post(client, second).status_code == 204


def test_an_agent_goes_on_until_its_follower_has_really_begun(client: Client) -> None:
    first = started(client)
    NodeAgent.objects.update(created_at=timezone.now() - timedelta(seconds=1))
    new_agent()
    assert post(client, first).status_code == 204


def test_without_a_good_token_nothing_is_taken(client: Client) -> None:
    headers = started(client)
    for wrong in ({}, {**headers, "Authorization": "Bearer x"}, {**headers, AGENT_HEADER: "x"}):
        assert post(client, wrong).status_code == 401
    assert not Node.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", '{"alive": [{}]}', '{"alive": [], "nodes": [], "x": 1}'])
def test_a_broken_report_names_what_is_wrong(client: Client, body: str) -> None:
    assert post(client, started(client), body).status_code == 422


@pytest.mark.parametrize(
    "nodes", [(alive("gpu0"), alive("gpu0", "other")), (alive("gpu0", "one"), alive("gpu1", "one"))]
)
def test_a_node_that_is_listed_twice_is_refused_in_a_sentence(client: Client, nodes: tuple[Any, ...]) -> None:
    body = json.dumps({"alive": [node.model_dump(mode="json") for node in nodes]})
    refused = post(client, started(client), body)
    assert (refused.status_code, Node.objects.count()) == (422, 0)
    assert "each node must be listed once" in refused.json()["detail"]


def test_a_nul_in_what_a_driver_says_is_shown_as_another_character(client: Client) -> None:
    node = alive("gpu0")
    whole = NodeReports(alive=(node,), nodes=(report(node, reader_error="no \0 driver"),)).model_dump_json()
    assert post(client, started(client), whole).status_code == 204
    assert Node.objects.get().reader_error == "no \ufffd driver"
