"""Requests that schemathesis makes of the schema, by its rules and against them: every answer is as the schema says."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from accounts.api_tokens import TokenWish, create_token
from accounts.models import Membership, ProjectRole
from tests.slow_params import slow_but
from tests.web.every_address.world import World

pytestmark = pytest.mark.django_db
SCHEMA = Path(__file__).parents[3] / "frontend" / "openapi.json"
DOCUMENT = json.loads(SCHEMA.read_text())
FOUND = [found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations() if isinstance(found, Ok)]
OPERATIONS = {operation.label: operation for operation in FOUND}
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
WITHOUT_END = {"GET /api/v1/runs/{run_id}/stream"}
"""Its body ends with the run; `test_event_stream` reads it."""
FUZZED = sorted(OPERATIONS.keys() - WITHOUT_END)
QUICK = [label for label in FUZZED if not label.startswith("GET ")]
"""What takes bodies: answers to reads are held against the schema in `test_matrix` too."""
OF_THE_CLIENT = ("accept-encoding", "authorization", "content-length", "content-type")
"""Headers that are not taken from what was generated."""


@pytest.fixture(scope="module")
def token(world: World) -> str:
    """Of a user who may do everything, so that requests get as far as they can."""
    user = world.users["administrator"]
    Membership.objects.create(project_id=world.values["project_id"], user=user, role=ProjectRole.OWNER)
    return create_token(user=user, wish=TokenWish())[1]


def test_requests_are_made_of_every_operation() -> None:
    assert len(OPERATIONS) == sum(map(len, DOCUMENT["paths"].values()))


def answer(case: schemathesis.Case[Any], token: str) -> schemathesis.Response:
    """What the web answers, undone at once."""
    sent = requests.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
    headers: dict[str, Any] = {name: text for name, text in sent.headers.items() if name.lower() not in OF_THE_CLIENT}
    client = APIClient(raise_request_exception=False)
    place = transaction.savepoint()
    try:
        found = client.generic(
            case.method,
            sent.path_url,
            sent.body or b"",
            content_type=sent.headers.get("Content-Type", ""),
            headers={**headers, "Authorization": f"Bearer {token}"},
        )
    finally:
        transaction.savepoint_rollback(place)
    return schemathesis.Response(
        status_code=found.status_code,
        headers={name: [text] for name, text in found.headers.items()},
        content=b"".join(found.streaming_content) if found.streaming else found.content,
        request=sent,
        elapsed=0.0,
        verify=False,
    )


@pytest.mark.parametrize("num_examples", [3, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("label", slow_but(QUICK, FUZZED))
def test_answers_are_as_the_schema_says(world: World, token: str, label: str, num_examples: int) -> None:
    operation = OPERATIONS[label]
    cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in GenerationMode])

    # The few of `make test` are the same each time; those of `make test-full` are others.
    @settings(
        max_examples=num_examples,
        derandomize=num_examples < 10,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, is_of_world=st.booleans())
    def holds(case: schemathesis.Case[Any], is_of_world: bool) -> None:
        if is_of_world:
            named = {name: world.named(operation.path, name) for name in case.path_parameters or {}}
            case.path_parameters = {name: named[name] or value for name, value in (case.path_parameters or {}).items()}
        case.validate_response(answer(case, token), checks=CHECKS)

    holds()
