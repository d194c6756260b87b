"""Whatever goes wrong below `/api/` is answered as problem+json, with what to do."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest import MonkeyPatch
from rest_framework.test import APIClient

from accounts.models import User
from api.query_parameters import known_parameters
from api.views.run_history import PlanView
from api.views.run_logs import LogsView
from api.views.runs import RunViewSet
from api.views.telemetry import StalenessView
from runs.models import Run

pytestmark = pytest.mark.django_db


def detail_of(response: Any, status: int) -> str:
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
    return str(response.json()["detail"])


@pytest.mark.parametrize(
    "path",
    [
        *("/api/", "/api/v1/nothing", "/api/v2/runs", "/api/ingest/v1/nothing"),
        *("/api/v1/runs/not-an-id", "/api/v1/runs/not-an-id/metrics", "/api/v1/projects/1", "/api/v1/nodes/x"),
    ],
)
def test_an_unknown_address_or_a_malformed_id_is_a_problem(client: Client, path: str) -> None:
    assert path in detail_of(client.get(path), 404)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("delete", "/api/ingest/v1/bootstrap", "POST"),
        ("get", "/api/ingest/v1/nodes/reports", "POST"),
        ("post", "/api/ingest/v1/runs/0b0e5a1e-0000-4000-8000-000000000000/attempts/1/prompts", "GET"),
    ],
)
def test_a_method_that_is_not_answered_is_a_problem_with_those_that_are(
    client: Client, method: str, path: str, allowed: str
) -> None:
    answer = getattr(client, method)(path)
    assert allowed in detail_of(answer, 405)
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["projects", "runs", "mirrors/0b0e5a1e-0000-4000-8000-000000000000"])
def test_a_method_that_an_address_with_tags_has_not_is_a_problem(client: Client, alice: User, path: str) -> None:
    client.force_login(alice)
    assert 'Method "PUT" not allowed' in detail_of(client.put(f"/api/v1/{path}"), 405)
    assert 'Method "OPTIONS" not allowed' in detail_of(client.options(f"/api/v1/{path}"), 405)


@pytest.mark.parametrize("token", ["\xff\xfe", "", "a b", "x" * 9000, "x\x00"])
def test_a_token_that_is_none_is_a_401(client: Client, token: str) -> None:
    detail_of(client.get("/api/v1/runs", headers={"Authorization": f"Bearer {token}"}), 401)


def test_an_unknown_address_elsewhere_is_a_page(client: Client) -> None:
    assert client.get("/nothing").headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    "path",
    [
        "nodes/99999999999999999999999",
        "gpus/99999999999999999999999/minutes",
        "pools/%00",
        "pools/" + "x" * 5000,
        "runs/00000000-0000-0000-0000-000000000000/artifacts/%00",
        "runs?cursor=cD0lMDA=",
        "prompt-sets?cursor=cD0lMDA=",
    ],
)
def test_what_can_name_nothing_is_a_404_as_json(pool_admin: APIClient, path: str) -> None:
    detail_of(pool_admin.get(f"/api/v1/{path}"), 404)


def test_a_defect_is_a_problem(api: APIClient, monkeypatch: MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("api.views.catalog.selectors.list_presets", broken)
    api.raise_request_exception = False
    assert "X-Request-ID" in detail_of(api.get("/api/v1/presets"), 500)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("runs?stat=running", "`stat` is no query parameter here: did you mean `state`?"),
        ("runs?colour=red", "use one of project, state, tag, mine, ended_days, archived, search, cursor, limit"),
        ("presets?x=1", "use one of fields"),
        ("me?format=json", "use one of fields"),
        ("prompt-sets?projects=1", "did you mean `project`?"),
        ("runs?limit=0", "`limit` must be a whole number ≥ 1 and ≤ 1000, got '0'"),
        ("runs?limit=many", "got 'many'"),
        ("usage?since=0001-01-01T00:00:00%2B23:00&until=2026-01-01T00:00:00Z", "`since` must be a time such as"),
        ("usage?since=1800-01-01T00:00:00Z&until=2026-01-01T00:00:00Z", "between the years 1970 and 2200, got 1800"),
        ("lends?run=x", "`run` must be an id of 32 hexadecimal digits, got 'x'"),
    ],
)
def test_a_query_parameter_that_is_not_taken_is_named(api: APIClient, path: str, said: str) -> None:
    assert said in detail_of(api.get(f"/api/v1/{path}"), 400)


def test_numbers_of_a_window_are_finite(api: APIClient, make_run: Callable[..., Run], project: object) -> None:
    run = make_run(project=project)
    for value in ("nan", "inf", "-1", "1e300", "x"):
        assert detail_of(api.get(f"/api/v1/runs/{run.pk}/timeline?from={value}"), 400).startswith("`from` must be")


def test_the_known_parameters_are_the_documented_ones() -> None:
    assert known_parameters(LogsView, "get") == (
        "level",
        "source",
        "types",
        "search",
        "attempt",
        "after_seq",
        "before_seq",
        "limit",
        "fields",
    )
    assert known_parameters(RunViewSet, "list")[-3:] == ("cursor", "limit", "fields")
    assert known_parameters(StalenessView, "get") == ("max_columns", "from_batch", "to_batch", "fields")
    assert known_parameters(RunViewSet, "retrieve") == known_parameters(PlanView, "get") == ("fields",)
    assert known_parameters(RunViewSet, "create") == ()


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("{", 400, "the body is not valid JSON"),
        ('{"spec": NaN}', 400, "the body is not valid JSON"),
        ('{"spec": 1e999}', 400, "`spec` must be a finite number, got inf"),
        ('{"spec": {"a\\u0000": 1}}', 400, "`spec` has a name that must not hold a NUL"),
        ('{"spec": "\\ud800"}', 400, "half of a surrogate pair"),
        (f'{{"spec": {"[" * 50}{"]" * 50}}}', 400, "nested ≤ 32 deep"),
        ("[" * 200_000, 400, "nested ≤ 32 deep"),
        (f'{{"spec": {"9" * 5000}}}', 400, "the body is not valid JSON"),
        (f'"{"x" * 2**25}"', 413, "≤ 32 MiB"),
        (f'{{"spec": [{"0," * 2_000_001}0]}}', 400, "the body must hold ≤ 2000000 values, got 2000003"),
        ("[]", 400, "the body must be an object, got a list of 0"),
        ("null", 400, "the body must be an object, got nothing"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_cannot_be_read_says_why(api: APIClient, body: str, status: int, said: str) -> None:
    answer = api.post("/api/v1/runs:validate", body, content_type="application/json")
    assert said in detail_of(answer, status)
