"""Rows that no reader can take are skipped and counted by every one of them, and never make an answer fail."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from analysis.prometheus.unreadable_rows import out_of_range_rows
from runs.models import Run, RunStream
from telemetry.models import MetricPoint
from telemetry.unreadable import unreadable_counts
from tests.web.every_address.malformed_requests import OF_RUNS, readings_of
from tests.web.every_address.poisoned_rows import NUMBERS, poison
from tests.web.every_address.world import World

pytestmark = pytest.mark.django_db
ARROW = "application/vnd.apache.arrow.stream"
OF_WINDOWS = re.compile(r"/(timeline|lane-states|bubbles|trace)$")
AS_ARROW = re.compile(r"/(timeline|metrics|bubbles|lends)$")


@pytest.fixture
def poisoned(world: World) -> Iterator[World]:
    place = transaction.savepoint()
    run = Run.objects.get(pk=world.values["run_id"])
    poison(run)
    RunStream.objects.filter(run=run).update(last_stream_seq=10_000)
    yield world
    transaction.savepoint_rollback(place)


def readings(world: World) -> Iterator[tuple[str, str]]:
    """Whatever tells of runs, with the `Accept` of the request."""
    for address in readings_of(world, OF_RUNS):
        yield address, "*/*"
        if OF_WINDOWS.search(address):
            yield f"{address}?from=0&to=100", "*/*"
        if AS_ARROW.search(address):
            yield address, ARROW


def client_of(world: World) -> Client:
    """Of the owner, without the check against the schema: what is null in place of a number is none of its answers."""
    client = Client(raise_request_exception=False)
    client.force_login(world.users["owner"])
    return client


def status_of(client: Client, address: str, accept: str) -> int:
    found: Any = client.get(address, headers={"Accept": accept})
    if found.streaming:
        b"".join(found.streaming_content)
    return int(found.status_code)


def test_every_reader_of_a_run_skips_what_it_cannot_read(poisoned: World) -> None:
    client = client_of(poisoned)
    before = unreadable_counts()
    failed = [(address, accept) for address, accept in readings(poisoned) if status_of(client, address, accept) >= 500]
    assert failed == []
    counted = {kind for kind, number in unreadable_counts().items() if number > before.get(kind, 0)}
    assert {"lanes", "publish", "queues", "lend", "sample", "adapter"} <= counted
    assert "tandem_unreadable_rows_total" in client.get("/api/v1/metrics").content.decode()


def test_what_can_be_read_is_still_there(poisoned: World) -> None:
    run_id, client = poisoned.values["run_id"], client_of(poisoned)
    adapters: Any = client.get(f"/api/v1/runs/{run_id}/adapters").json()["results"]
    assert [str(adapter["id"]) for adapter in adapters] == [poisoned.values["adapter_id"]]
    spans: Any = client.get(f"/api/v1/runs/{run_id}/timeline?from=0&to=100").json()["spans"]
    assert {"lane": "rollout-0", "kind": "generate"}.items() <= spans[0].items()


def test_rows_that_readers_leave_out_by_their_range_are_counted_where_they_lie(world: World) -> None:
    assert set(out_of_range_rows().values()) == {0}
    poison(Run.objects.get(pk=world.values["run_id"]))
    counted = out_of_range_rows()
    assert len(counted) == 7
    assert min(counted.values()) > 0
    assert counted["telemetry_metricpoint"] == 2 * 3 * len(NUMBERS)
    text = client_of(world).get("/api/v1/metrics").content.decode()
    assert 'tandem_out_of_range_rows{table="telemetry_metricpoint"} 30.0' in text


def test_counting_them_reads_no_other_row(world: World) -> None:
    index = next(index for index in MetricPoint._meta.indexes if index.name == "metric_point_unreadable")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = MetricPoint.objects.filter(index.condition).explain()
    assert "metric_point_unreadable" in plan
    assert "Filter" not in plan
