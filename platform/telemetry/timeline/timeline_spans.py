"""Converts spans to rows and back: stored by field name, read for a window of the timeline.

A span has one JSON form, the contract's: a field added to `Span` and to `SpanRow` is stored and sent with no further
change. Where more spans lie in a window than are asked for, neighbouring short ones of a lane become one, so that lanes
keep tiling without overlap.
"""

from typing import Annotated, Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max, Min, QuerySet
from psycopg import sql

from runs.models import CLOCK
from telemetry.models import SPAN_COLUMNS, LaneTime, SpanRow
from worker.contracts.base import Count as AtLeastOne
from worker.contracts.base import JsonOf
from worker.contracts.spans import Span


class TimelineSpan(Span):
    """A span of the timeline: one that its lane reported, or several short neighbours drawn as one.

    In merged ones, `kind` and `cause` are those that took most of the time, counts are sums, and all else is empty.
    """

    num_spans: AtLeastOne = 1
    """Number of spans that this one stands for; with 1 it is as its lane reported it."""


SpanJson = Annotated[dict[str, Any], JsonOf(TimelineSpan)]

_CLASS = ("lane", "kind", "cause")
_STRETCH = {"start": "min", "end": "max"}
_COUNTS = tuple(name for name in SPAN_COLUMNS if name.startswith("num_"))

_ALL_FIT_SECONDS = 1e-9
"""Shorter than any span: with this grain none is merged."""

_SPANS = """
WITH span AS (
    SELECT {columns}, "end" - start AS seconds, floor(start / %(grain)s) AS bucket
    FROM telemetry_spanrow
    WHERE run_id = %(run_id)s AND stream_seq <= %(up_to)s AND start < %(to)s AND "end" > %(from)s
      AND start >= 0 AND "end" <= %(latest)s
), tiny AS (
    SELECT {class}, bucket, {summed}, sum(seconds) AS seconds, count(*) AS num_spans
    FROM span WHERE seconds < %(grain)s GROUP BY {class}, bucket
), merged AS (
    SELECT {class}, {summed_over_bucket}, sum(num_spans) OVER whole AS num_spans,
           row_number() OVER (PARTITION BY lane, bucket ORDER BY seconds DESC, kind, cause) AS rank_in_bucket
    FROM tiny WINDOW whole AS (PARTITION BY lane, bucket)
)
SELECT {columns}, 1::bigint AS num_spans FROM span WHERE seconds >= %(grain)s
UNION ALL
SELECT {merged_columns}, num_spans::bigint FROM merged WHERE rank_in_bucket = 1
ORDER BY start
"""


def recorded_stretch(run_id: UUID) -> tuple[float, float]:
    """From the first span to the last one's end (Unix seconds), by the running totals; empty while there is none."""
    totals = LaneTime.objects.filter(run_id=run_id, first_start__range=CLOCK, last_end__range=CLOCK)
    bounds = totals.aggregate(start=Min("first_start"), end=Max("last_end"))
    return bounds["start"] or 0.0, bounds["end"] or 0.0


def spans_between(run_id: UUID, *, up_to: int, start: float, end: float, limit: int) -> list[SpanJson]:
    """The spans that touch `[start, end)` (Unix seconds), in order of their start, about `limit` at most."""
    in_run = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to, start__gte=0, end__lte=CLOCK[1])
    grain = _grain_seconds(in_run, start, end, limit)
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(),
            {"run_id": run_id, "up_to": up_to, "from": start, "to": end, "grain": grain, "latest": CLOCK[1]},
        )
        return [dict(zip((*SPAN_COLUMNS, "num_spans"), row, strict=True)) for row in cursor.fetchall()]


def _grain_seconds(in_run: QuerySet[SpanRow], start: float, end: float, limit: int) -> float:
    """Below this length spans are merged: next to nothing while all fit, else twice a lane's share of the limit."""
    window = in_run.filter(start__lt=end, end__gt=start)
    count = window.aggregate(spans=Count("id"), lanes=Count("lane", distinct=True))
    if count["spans"] <= limit:
        return _ALL_FIT_SECONDS
    return 2 * (end - start) * int(count["lanes"]) / limit


def _statement() -> sql.Composed:
    aggregates = {**_STRETCH, **dict.fromkeys(_COUNTS, "sum")}
    kept = {*_CLASS, *_STRETCH}

    def merged(name: str) -> sql.Composable:
        if name in _COUNTS:
            return sql.SQL("{}::bigint").format(sql.Identifier(name))
        return sql.Identifier(name) if name in kept else sql.Literal(Span.model_fields[name].default)

    def aggregated(over: str) -> sql.Composed:
        return sql.SQL(", ").join(
            sql.SQL(f"{function}({{column}}){over} AS {{column}}").format(column=sql.Identifier(name))
            for name, function in aggregates.items()
        )

    return sql.SQL(_SPANS).format(
        **{"class": sql.SQL(", ").join(map(sql.Identifier, _CLASS))},
        columns=sql.SQL(", ").join(map(sql.Identifier, SPAN_COLUMNS)),
        summed=aggregated(""),
        summed_over_bucket=aggregated(" OVER whole"),
        merged_columns=sql.SQL(", ").join(map(merged, SPAN_COLUMNS)),
    )
