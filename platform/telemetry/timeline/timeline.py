"""Data of the timeline page: the spans of all lanes, published versions, queue depths, lending decisions, resizes and
adopted plans."""

import math
from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet, Window
from django.db.models.functions import Mod, RowNumber
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import CLOCK
from telemetry.lending.lending_ledger import LendDecision, recent_lends
from telemetry.models import StreamItem
from telemetry.observed_lanes import Lane, placed_lanes
from telemetry.selectors import last_stream_seq
from telemetry.timeline.timeline_spans import SpanJson, recorded_stretch, spans_between
from telemetry.unreadable import readable
from worker.contracts.base import JsonOf
from worker.contracts.resizing import ResizeReport, ResizeState

MAX_SPANS = 20_000
DEFAULT_SPANS = 5000
MAX_MARKS = 1000
"""Most published versions, and points of queue depths, in one answer: a screen has fewer pixels across than two for
each."""

_Items = QuerySet[StreamItem]
"""Times and bodies of stream items of one type, oldest first."""


class PublishedVersion(TypedDict):
    policy_version: int
    at: float


@with_config(use_attribute_docstrings=True)
class QueueDepths(TypedDict):
    at: float
    depths: dict[str, int]
    """Number of entries by the queue's name."""


@with_config(use_attribute_docstrings=True)
class EndedResize(TypedDict):
    """A resize at the moment when it was done or had failed."""

    at: float
    resize: Annotated[dict[str, Any], JsonOf(ResizeReport)]


@with_config(use_attribute_docstrings=True)
class AdoptedPlan(TypedDict):
    """A plan that the run adopted while it worked."""

    at: float
    batch: int
    """Number of complete batches when the plan took effect."""
    reason: str
    batch_seconds: float
    """Predicted seconds of a batch from then on."""


@with_config(use_attribute_docstrings=True)
class Timeline(TypedDict):
    """A window of a run's lane time. Times are Unix seconds."""

    lanes: list[Lane]
    """The lanes that were placed. Spans may name others: the driver's own, and lanes that were never placed."""
    spans: list[SpanJson]
    """Spans in the order of their start."""
    versions: list[PublishedVersion]
    """Those in the window, the last one before it, and the first one after it."""
    queues: list[QueueDepths]
    lends: list[LendDecision]
    """Lending decisions, oldest first."""
    resizes: list[EndedResize]
    """Resizes that ended in the window, oldest first."""
    plans: list[AdoptedPlan]
    """Plans that the run adopted in the window while it worked, oldest first."""
    stream_seq: int
    """Number of the newest item read; the socket sends what follows."""
    now: float
    """The server's clock, in Unix seconds."""


def timeline(
    run_id: UUID, *, now: float, start: float | None = None, end: float | None = None, limit: int = DEFAULT_SPANS
) -> Timeline:
    """The window `[start, end)` of a run's lane time (Unix seconds; all of it by default), read up to one number."""
    up_to = last_stream_seq(run_id)
    first, last = recorded_stretch(run_id)
    start = (first or now) if start is None else start
    # A stretch of work becomes a span when it ends, so there may be later events than the last span.
    until = math.inf if end is None else end
    end = (last or now) if end is None else end
    return {
        "lanes": placed_lanes(run_id, up_to=up_to),
        "spans": spans_between(run_id, up_to=up_to, start=start, end=end, limit=limit),
        "versions": _versions(run_id, up_to, start, until),
        "queues": _queues(run_id, up_to, start, until),
        "lends": recent_lends(run_id, up_to=up_to, start=start, end=until),
        "resizes": _resizes(run_id, up_to, start, until),
        "plans": _plans(run_id, up_to, start, until),
        "stream_seq": up_to,
        "now": now,
    }


def _versions(run_id: UUID, up_to: int, start: float, end: float) -> list[PublishedVersion]:
    """With the last version before the window and the first one after it, between which its batches lie."""
    around = (
        _items(run_id, "publish", up_to, -math.inf, start).last(),
        _items(run_id, "publish", up_to, end, math.inf).first(),
    )
    first, last = (at if item is None else item.at for item, at in zip(around, (start, end), strict=True))
    published = _thinned(_items(run_id, "publish", up_to, first, last))
    return [{"policy_version": item.body["policy_version"], "at": item.at} for item in readable(published)]


def _queues(run_id: UUID, up_to: int, start: float, end: float) -> list[QueueDepths]:
    depths = _thinned(_items(run_id, "queues", up_to, start, end))
    return [{"at": item.at, "depths": item.body["depths"]} for item in readable(depths)]


def _resizes(run_id: UUID, up_to: int, start: float, end: float) -> list[EndedResize]:
    rows = StreamItem.objects.filter(
        run_id=run_id,
        type="lanes",
        stream_seq__lte=up_to,
        at__gte=start,
        at__lte=end,
        body__resize__state__in=[ResizeState.DONE.value, ResizeState.FAILED.value],
    )
    return [{"at": item.at, "resize": item.body["resize"]} for item in readable(rows.order_by("at"))]


def _plans(run_id: UUID, up_to: int, start: float, end: float) -> list[AdoptedPlan]:
    return [
        {
            "at": item.at,
            "batch": item.body["batch"],
            "reason": item.body["reason"],
            "batch_seconds": item.body["batch_seconds"],
        }
        for item in readable(_items(run_id, "plan", up_to, start, end))
    ]


def _items(run_id: UUID, kind: str, up_to: int, start: float, end: float) -> _Items:
    rows = StreamItem.objects.filter(run_id=run_id, type=kind, stream_seq__lte=up_to, at__range=CLOCK)
    return rows.filter(at__gte=start, at__lte=end).order_by("at")


def _thinned(items: _Items) -> _Items:
    """Every n-th item where there are more than `MAX_MARKS`, the first among them; the database leaves out the rest."""
    every = -(-items.count() // MAX_MARKS)
    if every <= 1:
        return items
    return items.alias(place=Mod(Window(RowNumber(), order_by="at"), every)).filter(place=1)
