"""Reads of a run's log: entries by severity, source, type and words; its errors, gathered. Callers check permission.

Invariant: a read is bounded. One that filters looks at no more than `MAX_SEARCHED` entries, and says where to go on.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Func, Max, Min, QuerySet, TextField, Value
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import CLOCK, LogLevel, RunLogEntry
from worker.contracts.base import JsonOf
from worker.contracts.names import LaneRole

MAX_SEARCHED = 100_000
"""Entries that one read looks at: a day at the engine's log rate has up to 432,000 (`NUM_RECORDS_PER_SECOND`), and a
search that finds nothing reads them all."""
MAX_ERRORS = 50
"""Most kinds of error that are gathered: nobody reads more, and the list below has all."""
LEVELS = tuple(LogLevel.values)


@with_config(use_attribute_docstrings=True)
class LogEntry(TypedDict):
    """A log record, or an event of the run in a sentence."""

    stream_seq: int
    """The number of what it tells, in the run's stream."""
    at: float
    """Unix time in seconds."""
    attempt: int
    type: str
    """`log` for a record of the engine's log; else the type of the event."""
    level: Annotated[str, JsonOf(LogLevel)]
    source: str
    """A lane, `driver` or `web`."""
    text: str


@with_config(use_attribute_docstrings=True)
class LogError(TypedDict):
    """Errors with the same message, up to the numbers in it."""

    text: str
    """The first line of the newest."""
    sources: list[str]
    count: int
    first_at: float
    last_at: float
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which entries to read; what is empty leaves nothing out."""

    level: str = ""
    """The least severity."""
    source: str = ""
    """A lane, `driver`, `web`, or a role: all lanes of it."""
    types: Collection[str] = ()
    search: str = ""
    """Words that the text holds, in this order."""
    attempt: int | None = None

    @property
    def is_plain(self) -> bool:
        return self == LogFilter()


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: list[LogEntry]
    searched_to: int | None
    """The number from which to go on where not everything was looked at; None at the log's end."""


def newest_entries(run_id: UUID, wanted: LogFilter, *, before_seq: int | None, limit: int) -> LogPage:
    """The newest `limit` entries (below `before_seq`), newest first."""
    rows = RunLogEntry.objects.filter(run_id=run_id, at__range=CLOCK).order_by("-stream_seq")
    if before_seq is not None:
        rows = rows.filter(stream_seq__lt=before_seq)
    last = None if wanted.is_plain else _number_at(rows, MAX_SEARCHED)
    if last is not None:
        rows = rows.filter(stream_seq__gte=last)
    return _page(_matching(rows, wanted), limit, last)


def entries_after(run_id: UUID, wanted: LogFilter, *, after_seq: int, limit: int) -> LogPage:
    """The first `limit` entries above `after_seq`, oldest first."""
    rows = RunLogEntry.objects.filter(run_id=run_id, at__range=CLOCK, stream_seq__gt=after_seq).order_by("stream_seq")
    last = None if wanted.is_plain else _number_at(rows, MAX_SEARCHED)
    if last is not None:
        rows = rows.filter(stream_seq__lte=last)
    return _page(_matching(rows, wanted), limit, last)


def log_errors(run_id: UUID) -> list[LogError]:
    """The run's errors, those with the same message together, the newest first."""
    first_line = Func(F("text"), Value("\n"), Value(1), function="split_part", output_field=TextField())
    pattern = Func(
        first_line, Value("[0-9]+"), Value("#"), Value("g"), function="regexp_replace", output_field=TextField()
    )
    groups = list(
        RunLogEntry.objects.filter(run_id=run_id, at__range=CLOCK, level=LogLevel.ERROR)
        .annotate(pattern=pattern)
        .values("pattern")
        .annotate(
            count=Count("pk"),
            first_at=Min("at"),
            last_at=Max("at"),
            first_seq=Min("stream_seq"),
            last_seq=Max("stream_seq"),
            sources=ArrayAgg("source", distinct=True, order_by="source"),
        )
        .order_by("-last_seq")[:MAX_ERRORS]
    )
    newest = RunLogEntry.objects.filter(
        run_id=run_id, at__range=CLOCK, stream_seq__in=[group["last_seq"] for group in groups]
    )
    texts = dict(newest.values_list("stream_seq", "text"))
    return [
        {
            "text": texts[group["last_seq"]].partition("\n")[0],
            "sources": group["sources"],
            "count": group["count"],
            "first_at": group["first_at"],
            "last_at": group["last_at"],
            "first_seq": group["first_seq"],
            "last_seq": group["last_seq"],
        }
        for group in groups
    ]


def log_text(run_id: UUID, wanted: LogFilter) -> str:
    """The newest `MAX_SEARCHED` entries that match as lines of text, oldest first: time, severity, source, text."""
    rows = _matching(RunLogEntry.objects.filter(run_id=run_id, at__range=CLOCK), wanted).order_by("-stream_seq")[
        : MAX_SEARCHED + 1
    ]
    lines = [_line(row) for row in rows]
    if len(lines) > MAX_SEARCHED:
        lines[-1] = f"# earlier entries are left out: these are the newest {MAX_SEARCHED}\n"
    return "".join(reversed(lines))


def _line(row: RunLogEntry) -> str:
    at = datetime.fromtimestamp(row.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    # Further lines of an entry are indented, so that every entry begins where its time does.
    text = row.text.replace("\n", "\n    ")
    return f"{at}  {row.level:7}  {row.source:12}  {text}\n"


def _matching(rows: QuerySet[RunLogEntry], wanted: LogFilter) -> QuerySet[RunLogEntry]:
    if wanted.level:
        rows = rows.filter(level__in=LEVELS[LEVELS.index(wanted.level) :])
    if wanted.source in set(LaneRole):
        # Lanes are named `<role>-<index>`.
        rows = rows.filter(source__startswith=f"{wanted.source}-")
    elif wanted.source:
        rows = rows.filter(source=wanted.source)
    if wanted.types:
        rows = rows.filter(type__in=wanted.types)
    if wanted.search:
        rows = rows.filter(text__icontains=wanted.search)
    return rows if wanted.attempt is None else rows.filter(attempt=wanted.attempt)


def _number_at(rows: QuerySet[RunLogEntry], index: int) -> int | None:
    return rows.values_list("stream_seq", flat=True)[index : index + 1].first()


def _page(rows: QuerySet[RunLogEntry], limit: int, searched_to: int | None) -> LogPage:
    found = list(rows[:limit])
    if len(found) == limit:
        searched_to = found[-1].stream_seq
    return LogPage([_entry(row) for row in found], searched_to)


def _entry(row: RunLogEntry) -> LogEntry:
    return {
        "stream_seq": row.stream_seq,
        "at": row.at,
        "attempt": row.attempt,
        "type": row.type,
        "level": row.level,
        "source": row.source,
        "text": row.text,
    }
