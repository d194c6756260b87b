"""A run's lane time as a file that Perfetto opens (https://ui.perfetto.dev): Trace Event Format, gzipped.

Roles are its processes and lanes its threads. Invariant: times are whole nanoseconds since the first span, so that
spans which meet in the run meet in the trace, and durations sum to the lane time of the bubble ledger.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any
from uuid import UUID

from runs.models import CLOCK
from telemetry.models import SPAN_COLUMNS, SpanRow, StreamItem
from telemetry.observed_lanes import placed_lanes, role_of
from telemetry.selectors import last_stream_seq
from telemetry.timeline.timeline_spans import recorded_stretch
from telemetry.unreadable import readable

MAX_SPANS = 1_000_000
"""Of a longer run the newest are in the file: Perfetto's page holds a few million events in a browser's memory."""
_CHUNK = 5000
"""Rows read at once: what is held in memory beside the compressed file."""
_COMPRESSION = 4
"""A third of the time of the default level, for files a tenth larger."""
_MARKS_PID = 0
"""The process of what belongs to no lane: published versions and queue depths."""
_ARGUMENTS = tuple(name for name in SPAN_COLUMNS if name not in ("lane", "kind", "start", "end"))

Event = dict[str, Any]


def perfetto_trace(run_id: UUID, *, start: float | None = None, end: float | None = None) -> bytes:
    """The spans that touch `[start, end)` (Unix seconds; all by default), at most the newest `MAX_SPANS`, with the
    versions published and the queue depths of that stretch."""
    written = BytesIO()
    with gzip.GzipFile(fileobj=written, mode="wb", compresslevel=_COMPRESSION, mtime=0) as packed:
        packed.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
        for number, event in enumerate(_events(run_id, start, end)):
            packed.write((b",\n" if number else b"") + json.dumps(event, separators=(",", ":"), default=str).encode())
        packed.write(b"\n]}\n")
    return written.getvalue()


def _events(run_id: UUID, start: float | None, end: float | None) -> Iterator[Event]:
    up_to = last_stream_seq(run_id)
    placed = {lane["lane"]: lane["role"] for lane in placed_lanes(run_id, up_to=up_to)}
    origin, _ = recorded_stretch(run_id)
    threads: dict[str, tuple[int, int]] = {}
    processes: dict[str, int] = {}
    yield _named("process_name", "run", pid=_MARKS_PID)
    columns = ("lane", "kind", "start", "end", "attempt", *_ARGUMENTS)
    for lane, kind, begin, finish, attempt, *arguments in _spans(run_id, up_to, start, end, columns):
        if lane not in threads:
            role = role_of(lane, placed) or "other"
            if role not in processes:
                processes[role] = len(processes) + 1
                yield _named("process_name", role, pid=processes[role])
            threads[lane] = (processes[role], len(threads) + 1)
            yield _named("thread_name", lane, pid=processes[role], tid=threads[lane][1])
        pid, tid = threads[lane]
        known = {name: value for name, value in zip(_ARGUMENTS, arguments, strict=True) if value is not None}
        at, until = _nanoseconds(begin, origin), _nanoseconds(finish, origin)
        yield {
            "ph": "X",
            "name": f"{kind}: {known['cause']}" if "cause" in known else kind,
            "cat": kind,
            "pid": pid,
            "tid": tid,
            "ts": at / 1000,
            "dur": (until - at) / 1000,
            "args": {"attempt": attempt, **known},
        }
    yield from _marks(run_id, up_to, origin, start, end)


def _spans(run_id: UUID, up_to: int, start: float | None, end: float | None, columns: Iterable[str]) -> Iterator[Any]:
    """Rows of these columns, the newest first."""
    rows = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to, start__range=CLOCK, end__range=CLOCK)
    if start is not None:
        rows = rows.filter(end__gt=start)
    if end is not None:
        rows = rows.filter(start__lt=end)
    return rows.order_by("-start")[:MAX_SPANS].values_list(*columns).iterator(chunk_size=_CHUNK)


def _marks(run_id: UUID, up_to: int, origin: float, start: float | None, end: float | None) -> Iterator[Event]:
    """Published versions as instants, queue depths as counters."""
    rows = StreamItem.objects.filter(run_id=run_id, type__in=("publish", "queues"), stream_seq__lte=up_to)
    if start is not None:
        rows = rows.filter(at__gte=start)
    if end is not None:
        rows = rows.filter(at__lt=end)
    marks = rows.order_by("-stream_seq")[:MAX_SPANS]
    for mark in readable(marks.iterator(chunk_size=_CHUNK)):
        common = {"pid": _MARKS_PID, "tid": 0, "ts": _nanoseconds(mark.at, origin) / 1000}
        if mark.type == "publish":
            yield {"ph": "i", "s": "g", "name": f"v{mark.body['policy_version']}", "cat": "publish", **common}
        else:
            yield {"ph": "C", "name": "queue depths", "args": mark.body["depths"], **common}


def _named(what: str, name: str, **of: int) -> Event:
    """The event that gives a process or a thread its name."""
    return {"ph": "M", "name": what, "args": {"name": name}, "ts": 0, **of}


def _nanoseconds(at: float, origin: float) -> int:
    return round((at - origin) * 1e9)
