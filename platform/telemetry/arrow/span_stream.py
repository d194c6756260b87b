"""A run's lane time as an Arrow stream: a row for each span, by lane and start."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import models
from psycopg import sql

from runs.models import CLOCK
from telemetry.arrow.arrow_stream import PAGE_ROWS, Column, Kind, arrow_stream
from telemetry.arrow.keyset_pages import Row, keyset_pages
from telemetry.models import SPAN_COLUMNS, SpanRow
from telemetry.selectors import last_stream_seq
from telemetry.timeline.timeline_spans import recorded_stretch, spans_between

_KINDS: dict[type[Any], Kind] = {
    models.CharField: Kind.NAME,
    models.UUIDField: Kind.NAME,
    models.FloatField: Kind.TIME,
    models.PositiveIntegerField: Kind.COUNT,
    models.PositiveSmallIntegerField: Kind.COUNT,
}
"""By the class of a span's field. All of its floats are points in time."""


def _column(name: str) -> Column:
    field = SpanRow._meta.get_field(name)
    return Column(name, _KINDS[type(field)], may_lack=field.null)


COLUMNS = tuple(map(_column, SPAN_COLUMNS))
NUM_SPANS = Column("num_spans", Kind.COUNT)
"""A further column where a row may stand for several."""


def span_stream(
    run_id: UUID,
    *,
    start: float | None = None,
    end: float | None = None,
    limit: int | None = None,
    page_rows: int = PAGE_ROWS,
) -> Iterator[bytes]:
    """Every span that touches `[start, end)` (Unix seconds; all by default), read up to one `stream_seq`; with `limit`,
    those of `spans_between`, with how many each stands for."""
    up_to = last_stream_seq(run_id)
    about = {"stream_seq": str(up_to)}
    if limit is None:
        return arrow_stream(COLUMNS, _every_span(run_id, up_to, start, end, page_rows), about)
    first, last = recorded_stretch(run_id)
    window = {"start": first if start is None else start, "end": last if end is None else end}
    columns = (*COLUMNS, NUM_SPANS)
    spans = spans_between(run_id, up_to=up_to, limit=limit, **window)
    rows = [tuple(_plain(span[column.name]) for column in columns) for span in spans]
    rows.sort(key=lambda row: (row[_LANE], row[_START]))
    return arrow_stream(columns, [rows] if rows else [], about)


def _every_span(
    run_id: UUID, up_to: int, start: float | None, end: float | None, page_rows: int
) -> Iterator[list[Row]]:
    conditions = ["run_id = {run_id}", "stream_seq <= {up_to}", "start >= 0", '"end" <= {latest}']
    conditions += [] if start is None else ['"end" > {start}']
    conditions += [] if end is None else ["start < {end}"]
    rows = sql.SQL(" AND ".join(conditions)).format(
        run_id=sql.Literal(run_id),
        up_to=sql.Literal(up_to),
        start=sql.Literal(start),
        end=sql.Literal(end),
        latest=sql.Literal(CLOCK[1]),
    )
    key = ("lane", "start", "id")
    table = SpanRow._meta.db_table
    for page in keyset_pages(table, SPAN_COLUMNS, key=key, num_indexed=2, rows=rows, page_rows=page_rows):
        yield [tuple(map(_plain, row)) for row in page]


def _plain(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


_LANE, _START = SPAN_COLUMNS.index("lane"), SPAN_COLUMNS.index("start")
