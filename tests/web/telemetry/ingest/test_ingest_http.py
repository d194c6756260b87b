"""The ingest over HTTP: every status of the contract."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.secrets import hash_secret
from runs.models import Attempt, Run
from runs.report_storage import full_in
from telemetry.models import MetricPoint
from worker.contracts.ingest import (
    BOOTSTRAP_PATH,
    EVENTS_PATH,
    PROMPTS_PATH,
    BootstrapAnswer,
    IngestAnswer,
    PromptsAnswer,
)
from worker.contracts.prompts import parse_prompts

pytestmark = pytest.mark.django_db
Make = Callable[..., dict[str, Any]]


def post(client: Client, path: str, body: Any, token: str = "") -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(path, text, content_type="application/json", headers=headers)


def events_path(driver: Any) -> str:
    return EVENTS_PATH.format(run=driver.run_id, attempt=driver.attempt)


def test_a_batch_is_answered_with_the_mark(client: Client, driver: Any, event: Make) -> None:
    response = post(client, events_path(driver), {"events": [event(1)], "pending": 0}, driver.token)
    assert response.status_code == 200
    assert IngestAnswer.model_validate_json(response.content).acknowledged == 1


@pytest.fixture
def full_disk() -> Iterator[None]:
    """PostgreSQL has no space left for events."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;"
            f"CREATE TRIGGER full_disk BEFORE INSERT ON {MetricPoint._meta.db_table} "
            "FOR EACH ROW EXECUTE FUNCTION full_disk()"
        )
    yield
    cache.clear()


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_told_and_its_driver_counts_as_heard(client: Client, driver: Any, metrics: Make) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    Run.objects.filter(pk=driver.run_id).update(last_heartbeat_at=long_ago)
    answer = post(client, events_path(driver), {"events": [metrics(1, 1, reward__mean=0.5)]}, driver.token)
    assert answer.status_code == 507
    assert "disk of the database is full" in answer.json()["detail"]
    assert Run.objects.filter(pk=driver.run_id, last_heartbeat_at__gt=long_ago).exists()
    said = full_in([driver.run_id, uuid4()])
    assert said.keys() == {driver.run_id}
    assert "disk of the database is full" in said[driver.run_id]
    assert driver.items == []


def test_the_driver_fetches_the_runs_prompts_with_its_token(client: Client, driver: Any) -> None:
    record = {"text": "two cats", "metadata": {"count": 2}}
    Run.objects.filter(pk=driver.run_id).update(prompts=["a red square", record])
    path = PROMPTS_PATH.format(run=driver.run_id, attempt=driver.attempt)
    answer = client.get(path, headers={"Authorization": f"Bearer {driver.token}"})
    assert PromptsAnswer.model_validate_json(answer.content).prompts == parse_prompts(["a red square", record])
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"Authorization": "Bearer another"}).status_code == 401
    Run.objects.filter(pk=driver.run_id).update(prompts=[record | {"pictures": ["gone.png"]}])
    gone = client.get(path, headers={"Authorization": f"Bearer {driver.token}"})
    assert (gone.status_code, "gone.png" in gone.json()["detail"]) == (422, True)


def test_csrf_is_not_asked_of_drivers(driver: Any, event: Make) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert post(strict, events_path(driver), {"events": [event(1)]}, driver.token).status_code == 200


def test_401_without_the_token(client: Client, driver: Any, event: Make) -> None:
    for token in ("", "guess"):
        assert post(client, events_path(driver), {"events": [event(1)]}, token).status_code == 401


def test_409_names_the_number_expected(client: Client, driver: Any, event: Make) -> None:
    response = post(client, events_path(driver), {"events": [event(3)]}, driver.token)
    assert response.status_code == 409
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["expected"] == 1


def test_410_for_an_older_attempt(client: Client, driver: Any, event: Make, next_attempt: Any) -> None:
    next_attempt(driver.run, 2)
    assert post(client, events_path(driver), {"events": [event(1)]}, driver.token).status_code == 410


@pytest.mark.parametrize("body", ["{", '{"events": 3}', '{"happenings": []}', '{"events": [{"seq": 1}]}'])
def test_422_for_what_is_no_batch(client: Client, driver: Any, body: str) -> None:
    assert post(client, events_path(driver), body, driver.token).status_code == 422


def test_422_names_event_and_field(client: Client, driver: Any, event: Make) -> None:
    response = post(client, events_path(driver), {"events": [event(1), event(2, level="loud")]}, driver.token)
    assert response.status_code == 422
    assert (response.json()["seq"], response.json()["field"]) == (2, "level")


def test_a_zero_byte_in_a_log_line_does_not_block_the_stream(client: Client, driver: Any, event: Make) -> None:
    batch = {"events": [event(1, message="a\x00b"), event(2, message="backslash \\u0000")]}
    assert post(client, events_path(driver), batch, driver.token).status_code == 200
    messages = [item["body"]["message"] for item in driver.items]
    assert messages == ["a\ufffdb", "backslash \\u0000"]


def test_the_bootstrap_code_gives_spec_and_token_once(client: Client, make_run: Any) -> None:
    run = make_run(state="starting", attempt=1)
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        submitted_at=timezone.now(),
        bootstrap_code_hash=hash_secret("the code"),
        bootstrap_expires_at=timezone.now() + timedelta(minutes=5),
    )
    code = {"code": f"{attempt.pk}.the code"}
    first = post(client, BOOTSTRAP_PATH, code)
    assert first.status_code == 200
    answer = BootstrapAnswer.model_validate_json(first.content)
    assert post(client, EVENTS_PATH.format(run=run.pk, attempt=1), {"events": []}, answer.token).status_code == 200
    assert post(client, BOOTSTRAP_PATH, code).status_code == 401


@pytest.mark.parametrize("body", [{"code": "1.guess"}, {"code": ""}, {"code": "x.y"}])
def test_a_guessed_code_gives_nothing(client: Client, db: None, body: dict[str, str]) -> None:
    assert post(client, BOOTSTRAP_PATH, body).status_code == 401


def test_the_bootstrap_refuses_another_body(client: Client, db: None) -> None:
    assert post(client, BOOTSTRAP_PATH, {"password": "x"}).status_code == 422
