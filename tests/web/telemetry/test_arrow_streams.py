"""Curves, lane time and bubbles as Arrow: read by pyarrow, polars and pandas, they are what the JSON answers hold."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import polars
import pyarrow
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from telemetry.arrow.arrow_stream import Column, Kind, arrow_stream
from telemetry.arrow.bubble_stream import bubble_stream
from telemetry.arrow.point_stream import point_stream
from telemetry.arrow.span_stream import span_stream
from telemetry.curves.curves import curves
from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.timeline import timeline
from tests.web.telemetry.conftest import Driver, Event

Make = Callable[..., Event]
pytestmark = pytest.mark.django_db
NAME = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
TIME = pyarrow.timestamp("ns", tz="UTC")
BILLION = 1_000_000_000
FEW = 3
"""Rows of a page, so that a short run fills many."""


def table_of(stream: Iterator[bytes]) -> pyarrow.Table:
    return pyarrow.ipc.open_stream(b"".join(stream)).read_all()


def unix_seconds(column: pyarrow.ChunkedArray) -> list[float]:
    return [nanoseconds / BILLION for nanoseconds in column.cast(pyarrow.int64()).to_pylist()]


def as_series(table: pyarrow.Table, *envelope: str) -> dict[str, dict[str, list[Any]]]:
    """The rows of points as the JSON answer arranges them."""
    found: dict[str, dict[str, list[Any]]] = {}
    for name in ("key", "batch", "optimizer_step", "value", *envelope):
        assert not table.column(name).null_count
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name not in ("key", "at")}
    columns["at"] = unix_seconds(table.column("at"))
    for row, key in enumerate(table.column("key").to_pylist()):
        for name, values in columns.items():
            found.setdefault(key, {}).setdefault(name, []).append(values[row])
    return found


def test_every_point_is_in_the_stream_as_in_the_curves(driver: Driver, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, reward__mean=batch / 3, policy__kl=-1 / batch) for batch in range(1, 12)))
    table = table_of(point_stream(driver.run_id, page_rows=FEW))
    exact = {"key": NAME, "batch": pyarrow.uint32(), "optimizer_step": pyarrow.uint32(), "at": TIME}
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == exact | {"value": pyarrow.float64()}
    found = curves(driver.run_id)
    assert found["series"].keys() == {"reward/mean", "policy/kl"}
    expected: dict[str, Any] = found["series"]
    assert as_series(table) == {
        key: {name: values for name, values in series.items() if name not in ("min", "max")}
        for key, series in expected.items()
    }
    assert table.schema.metadata == {b"stream_seq": str(found["stream_seq"]).encode()}
    assert max(batch.num_rows for batch in table.to_batches()) == FEW


def test_with_a_number_of_points_the_stream_is_thinned_as_the_curves_are(driver: Driver, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, reward__mean=batch % 5, policy__kl=batch / 7) for batch in range(1, 40)))
    table = table_of(point_stream(driver.run_id, max_points=4, keys=["reward/mean"]))
    assert as_series(table, "min", "max") == curves(driver.run_id, max_points=4, keys=["reward/mean"])["series"]


def test_keys_and_steps_narrow_the_stream(driver: Driver, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, reward__mean=batch, policy__kl=batch) for batch in range(1, 12)))
    table = table_of(point_stream(driver.run_id, keys=["policy/kl"], from_step=8, to_step=40, page_rows=FEW))
    assert set(table.column("key").to_pylist()) == {"policy/kl"}
    assert table.column("optimizer_step").to_pylist() == list(range(8, 44, 4))


def test_points_of_one_step_are_not_lost_where_a_page_ends_among_them(driver: Driver, event: Make) -> None:
    same = [
        event(seq, "metrics", batch=1 + seq // 3, optimizer_step=4, values={"reward/mean": seq / 2})
        for seq in range(1, 9)
    ]
    driver.send(*same)
    assert table_of(point_stream(driver.run_id, page_rows=FEW)).column("value").to_pylist() == [
        seq / 2 for seq in range(1, 9)
    ]


def test_every_span_is_in_the_stream_as_in_the_timeline(driver: Driver, event: Make) -> None:
    lent = {
        "lane": "trainer-0",
        "kind": "generate",
        "start": 1.7e9 + 0.1,
        "end": 1.7e9 + 1 / 3,
        "for_run": uuid.uuid4(),
    }
    idle = {"lane": "rollout-1", "kind": "idle", "cause": "no_fragment_ready", "start": 1.7e9, "end": 1.7e9 + 2.7}
    busy = [
        {"lane": "rollout-0", "kind": "generate", "start": 1.7e9 + at / 7, "end": 1.7e9 + (at + 1) / 7, "batch": 1}
        | {"group": at, "fragment": 0, "policy_version": 0, "num_samples": 4}
        for at in range(8)
    ]
    driver.send(event(1, "spans", spans=[{**lent, "for_run": str(lent["for_run"])}, idle, *busy]))
    table = table_of(span_stream(driver.run_id, page_rows=FEW))
    drawn = timeline(driver.run_id, now=0)
    expected = sorted(drawn["spans"], key=lambda span: (span["lane"], span["start"]))
    assert len(expected) == 10
    for name in table.column_names:
        is_time = name in ("start", "end")
        read = unix_seconds(table.column(name)) if is_time else table.column(name).to_pylist()
        assert read == [str(span[name]) if name == "for_run" and span[name] else span[name] for span in expected], name
    assert {name: str(table.schema.field(name).type) for name in ("lane", "cause", "for_run")} == dict.fromkeys(
        ("lane", "cause", "for_run"), str(NAME)
    )
    assert table.schema.field("start").type == TIME
    assert table.schema.field("cause").nullable
    assert not table.schema.field("lane").nullable
    later = table_of(span_stream(driver.run_id, start=1.7e9 + 1, end=1.7e9 + 1.1))
    assert later.num_rows == len(timeline(driver.run_id, now=0, start=1.7e9 + 1, end=1.7e9 + 1.1)["spans"]) > 0


def test_with_a_limit_short_spans_are_merged_as_in_the_timeline(driver: Driver, spans: Make) -> None:
    driver.send(spans(1, *(("rollout-0", "generate", at, at + 1) for at in range(400))))
    table, drawn = table_of(span_stream(driver.run_id, limit=100)), timeline(driver.run_id, now=0, limit=100)["spans"]
    assert table.column("num_spans").to_pylist() == [span["num_spans"] for span in drawn]
    assert sum(table.column("num_spans").to_pylist()) == 400
    assert table.num_rows <= 100


def test_pandas_and_polars_read_the_stream(driver: Driver, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, reward__mean=batch / 3, policy__kl=batch) for batch in range(1, 12)))
    sent = b"".join(point_stream(driver.run_id, page_rows=FEW))
    expected = table_of(iter([sent])).to_pylist()
    frame = pyarrow.ipc.open_stream(sent).read_pandas()
    assert frame["value"].tolist() == [row["value"] for row in expected]
    assert str(frame["at"].dtype) == "datetime64[ns, UTC]"
    read = polars.read_ipc_stream(sent)
    assert read["key"].cast(polars.String).to_list() == [row["key"] for row in expected]
    assert read["value"].to_list() == [row["value"] for row in expected]


def test_a_run_that_reported_nothing_has_columns_without_rows(driver: Driver) -> None:
    for stream in (
        point_stream(driver.run_id, page_rows=FEW),
        span_stream(driver.run_id),
        span_stream(driver.run_id, limit=100),
    ):
        table = table_of(stream)
        assert table.num_rows == 0
        assert table.num_columns > 4


def test_pages_are_read_as_the_stream_is_taken(driver: Driver, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, reward__mean=batch) for batch in range(1, 12)))
    stream = point_stream(driver.run_id, page_rows=FEW)
    next(stream)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        next(stream)
    assert len(captured) == 1
    with CaptureQueriesContext(connection) as captured:
        list(stream)
    assert len(captured) == 3


def test_unix_times_of_float64_are_found_again_exactly() -> None:
    times = [0.0, 1e-9, 1.7e9 + 1 / 3, 1.7e9 + 0.1, 2**31 + 0.7, 1795000000.123456]
    table = table_of(arrow_stream([Column("at", Kind.TIME)], [[(at,) for at in times]], {}))
    assert unix_seconds(table.column("at")) == times


def test_bubbles_are_in_the_stream_as_in_the_account(driver: Driver, event: Make) -> None:
    idle = {"lane": "rollout-1", "kind": "idle", "cause": "no_fragment_ready", "start": 1.7e9, "end": 1.7e9 + 2.5}
    trained = {"lane": "trainer-0", "kind": "train", "start": 1.7e9 + 1, "end": 1.7e9 + 9}
    published = {"lane": "trainer-0", "kind": "publish", "start": 1.7e9 + 9.5, "end": 1.7e9 + 11}
    driver.send(event(1, "spans", spans=[idle, trained, published]))
    for window in ({}, {"start": 1.7e9 + 2, "end": 1.7e9 + 8}):
        table, account = table_of(bubble_stream(driver.run_id, **window)), bubbles(driver.run_id, **window)
        rows = table.to_pylist()
        by_lane: dict[str, dict[str, float]] = {}
        for row in rows:
            by_lane.setdefault(row["lane"], {})[row["class"]] = row["seconds"]
        assert by_lane == account["by_lane"]
        by_role = {role: sum(row["seconds"] for row in rows if row["role"] == role) for role in ("rollout", "trainer")}
        assert by_role == {role: sum(classes.values()) for role, classes in account["by_role"].items()}
        assert table.schema.metadata == {b"stream_seq": str(account["stream_seq"]).encode()}
    assert table_of(bubble_stream(uuid.uuid4())).num_rows == 0
