"""`Idempotency-Key`: one run, whatever is repeated."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import ApiToken, Project, TokenScope, User
from api.idempotency import HEADER
from api.models import IdempotencyKey
from runs.models import Run
from tests.web.api.token_clients import LETS_SERVICES_CHECK, WRITES
from worker.contracts.run_spec import RunSpec

SCHEMA = Path(__file__).resolve().parents[3] / "frontend" / "openapi.json"
KEY = {"Idempotency-Key": "sweep-1"}


@pytest.fixture
def body(project: Project, make_spec: Callable[..., RunSpec]) -> dict[str, Any]:
    return {"project": str(project.pk), "name": "first", "spec": make_spec().model_dump(mode="json")}


@pytest.mark.django_db
def test_a_repeat_gets_the_first_answer(api: APIClient, body: dict[str, Any]) -> None:
    first = api.post("/api/v1/runs", body, headers=KEY)
    again = api.post("/api/v1/runs", body, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replay"] == "true"
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_a_key_is_good_for_one_body(api: APIClient, body: dict[str, Any]) -> None:
    api.post("/api/v1/runs", body, headers=KEY)
    refused = api.post("/api/v1/runs", {**body, "name": "second"}, headers=KEY)
    assert refused.status_code == 409
    assert "use a new key" in refused.json()["detail"]
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_a_refused_request_uses_no_key_up(api: APIClient, body: dict[str, Any]) -> None:
    assert api.post("/api/v1/runs", {**body, "name": ""}, headers=KEY).status_code == 400
    assert api.post("/api/v1/runs", body, headers=KEY).status_code == 201


@pytest.mark.django_db
def test_keys_are_each_users_own(
    api: APIClient, client_of: Callable[[User], APIClient], bob: User, body: dict[str, Any]
) -> None:
    api.post("/api/v1/runs", body, headers=KEY)
    assert client_of(bob).post("/api/v1/runs", body, headers=KEY).json()["created_by"] == "bob"


@pytest.mark.django_db
def test_a_key_is_forgotten_after_a_day(api: APIClient, body: dict[str, Any]) -> None:
    api.post("/api/v1/runs", body, headers=KEY)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    api.post("/api/v1/runs", body, headers=KEY)
    assert Run.objects.count() == 2


@pytest.mark.django_db
def test_an_endless_key_is_refused(api: APIClient, body: dict[str, Any]) -> None:
    assert api.post("/api/v1/runs", body, headers={"Idempotency-Key": "x" * 201}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_run(client_of: Callable[[User], APIClient], alice: User, body: dict[str, Any]) -> None:
    start = Barrier(2)

    def post(_: int) -> Any:
        start.wait()
        try:
            return client_of(alice).post("/api/v1/runs", body, headers=KEY).json()["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(post, range(2))
    assert first == second
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_every_post_that_writes_takes_a_key(api: APIClient) -> None:
    operations = [
        (f"post {path.removeprefix('/api/v1/')}", operation)
        for path, methods in json.loads(SCHEMA.read_text())["paths"].items()
        for method, operation in methods.items()
        if method == "post"
    ]
    computing = {write for write, scope in WRITES.items() if scope is TokenScope.READ and write != LETS_SERVICES_CHECK}
    with_key = {
        name
        for name, operation in operations
        if any(found["name"] == HEADER for found in operation.get("parameters", ()))
    }
    without = {re.sub(r"<\w+:(\w+)>", r"{\1}", name) for name in computing}
    assert {name for name, _ in operations} - with_key == without


@pytest.mark.django_db
def test_a_repeat_makes_no_second_project(api: APIClient) -> None:
    first = api.post("/api/v1/projects", {"name": "Once"}, headers=KEY)
    again = api.post("/api/v1/projects", {"name": "Once"}, headers=KEY)
    assert again.json() == first.json()
    assert Project.objects.filter(name="Once").count() == 1


@pytest.mark.django_db
def test_a_token_is_made_once_and_kept_nowhere(api: APIClient) -> None:
    token = api.post("/api/v1/tokens", {"name": "ci"}, headers=KEY).json()["token"]
    again = api.post("/api/v1/tokens", {"name": "ci"}, headers=KEY)
    assert again.status_code == 409
    assert "not kept" in again.json()["detail"]
    assert ApiToken.objects.count() == 1
    assert token not in str(list(IdempotencyKey.objects.values()))


@pytest.mark.django_db
def test_a_post_that_only_computes_keeps_no_key(api: APIClient) -> None:
    api.post("/api/v1/runs:validate", {"spec": {}}, headers=KEY)
    assert not IdempotencyKey.objects.exists()
