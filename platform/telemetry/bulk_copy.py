"""Writes rows to PostgreSQL by COPY, an order of magnitude faster than INSERT for spans and metric points."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model
from psycopg import sql

from runs.models import RunLogEntry
from telemetry.log.log_sentences import log_line
from telemetry.models import OUTCOME_COLUMNS, SPAN_COLUMNS, GroupOutcomeRow, MetricPoint, SpanRow, StreamItem
from worker.contracts.events import GroupsEvent, LogEvent, MetricsEvent, RunEvent, SpansEvent

Numbered = Sequence[tuple[int, RunEvent]]
"""Events with their `stream_seq`."""


def copy_stream_items(run_id: UUID, attempt: int, numbered: Numbered, bodies: Sequence[dict[str, Any]]) -> None:
    """Log records are left out: they are stored once, by `copy_log_entries`."""
    rows = (
        (run_id, number, attempt, event.seq, event.type, event.at, json.dumps(body))
        for (number, event), body in zip(numbered, bodies, strict=True)
        if not isinstance(event, LogEvent)
    )
    copy_rows(StreamItem, ("run_id", "stream_seq", "attempt", "seq", "type", "at", "body"), rows)


def copy_log_entries(run_id: UUID, attempt: int, numbered: Numbered) -> None:
    rows = (
        (run_id, number, attempt, event.at, event.type, line.level.value, line.source, line.text)
        for number, event in numbered
        if (line := log_line(event)) is not None
    )
    copy_rows(RunLogEntry, ("run_id", "stream_seq", "attempt", "at", "type", "level", "source", "text"), rows)


def copy_metric_points(run_id: UUID, attempt: int, numbered: Sequence[tuple[int, MetricsEvent]]) -> None:
    rows = (
        (run_id, number, attempt, key, event.batch, event.optimizer_step, event.at, value)
        for number, event in numbered
        for key, value in event.values.items()
    )
    columns = ("run_id", "stream_seq", "attempt", "key", "batch", "optimizer_step", "at", "value")
    copy_rows(MetricPoint, columns, rows)


def copy_spans(run_id: UUID, attempt: int, numbered: Numbered) -> None:
    rows = (
        (run_id, number, attempt, *(getattr(span, column) for column in SPAN_COLUMNS))
        for number, event in numbered
        if isinstance(event, SpansEvent)
        for span in event.spans
    )
    copy_rows(SpanRow, ("run_id", "stream_seq", "attempt", *SPAN_COLUMNS), rows)


def copy_group_outcomes(run_id: UUID, attempt: int, events: Sequence[GroupsEvent]) -> None:
    rows = (
        (run_id, attempt, event.batch, *(getattr(group, column) for column in OUTCOME_COLUMNS))
        for event in events
        for group in event.groups
    )
    copy_rows(GroupOutcomeRow, ("run_id", "attempt", "batch", *OUTCOME_COLUMNS), rows)


def copy_rows(model: type[Model], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert `rows` with values for `columns` of the table of `model`; JSON is given as text. Defaults of the model's
    fields are not applied. Raises psycopg's own errors, such as `UniqueViolation`."""
    statement = sql.SQL("COPY {table} ({columns}) FROM STDIN").format(
        table=sql.Identifier(model._meta.db_table),
        columns=sql.SQL(", ").join(sql.Identifier(column) for column in columns),
    )
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write_row(first)
        for row in iterator:
            copy.write_row(row)
