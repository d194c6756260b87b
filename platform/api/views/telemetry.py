"""What a run reported: curves, timeline, bubbles, lending, staleness, events.

Curves and timelines are compressed: columns of numbers that rise evenly shrink to a fifth. Both are also to be had as
Arrow, for programs that want every point and span.
"""

import time
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.arrow_answers import JSON, JSON_OR_ARROW, arrow_answer, gzip_json, wants_arrow
from api.contract_schema import component, list_of, named_component, page_schema
from api.public_addresses import address_with
from api.request_parsing import checked
from api.serializers import telemetry as bodies
from runs.models import Run
from runs.selectors import get_run, visible_runs
from telemetry import selectors
from telemetry.arrow.arrow_stream import MEDIA_TYPE as ARROW
from telemetry.arrow.bubble_stream import bubble_stream
from telemetry.arrow.point_stream import point_stream
from telemetry.arrow.span_stream import span_stream
from telemetry.curves.curves import Curves, Sparklines, curves, sparklines
from telemetry.curves.staleness_columns import StalenessColumns, staleness_columns
from telemetry.lending.lending_ledger import Lending, lending
from telemetry.prompts.prompt_audit import PromptAuditPage, PromptOrder, prompt_audit
from telemetry.stream_items import BULK_TYPES, ITEM_TYPES, Item
from telemetry.timeline.bubbles import Bubbles, bubbles
from telemetry.timeline.lane_seconds import LaneSeconds, lane_seconds
from telemetry.timeline.lane_states import LaneStates, lane_states
from telemetry.timeline.perfetto_trace import perfetto_trace
from telemetry.timeline.planned_time import PlannedTime, planned_time
from telemetry.timeline.timeline import Timeline, timeline

STREAM_ITEMS = {"type": "array", "items": named_component("StreamItem")}


class RunDataView(APIView):
    """A view below one run, which the user must see."""

    def run(self, run_id: UUID) -> Run:
        found: Run = get_run(self.request.user, run_id)
        return found


@method_decorator(gzip_json, name="dispatch")
class MetricsView(RunDataView):
    renderer_classes = JSON_OR_ARROW

    @extend_schema(
        parameters=[bodies.MetricsQuery],
        responses={(200, JSON): component(Curves), (200, ARROW): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Curves. With more than `max_points` points, each one is the mean of a bucket, with its min and max.

        As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a point, by metric and step: `key`
        (dictionary of strings), `batch`, `optimizer_step` (uint32), `at` (timestamp in ns, UTC), `value` (float64).
        Without `max_points` it holds every point; with it, also `min` and `max` (float64). The schema's metadata has
        the `stream_seq`."""
        asked = checked(bodies.MetricsQuery(data=request.query_params))
        asked["keys"] = bodies.parts(asked["keys"])
        run = self.run(run_id)
        if wants_arrow(request):
            return arrow_answer(request, point_stream(run.pk, **asked))
        return Response(curves(run.pk, **asked))


class SparklinesView(APIView):
    @extend_schema(parameters=[bodies.SparklinesQuery], responses={200: component(Sparklines)})
    def get(self, request: Request) -> Response:
        """One metric of several runs, for the rows of a list."""
        asked = checked(bodies.SparklinesQuery(data=request.query_params))
        seen = visible_runs(request.user).filter(pk__in=asked["ids"]).values_list("pk", flat=True)
        return Response(sparklines(list(seen), key=asked["key"], max_points=asked["max_points"]))


@method_decorator(gzip_json, name="dispatch")
class TimelineView(RunDataView):
    renderer_classes = JSON_OR_ARROW

    @extend_schema(
        parameters=[bodies.TimelineQuery],
        responses={(200, JSON): component(Timeline), (200, ARROW): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Lane time in a window. With more than `limit` spans, neighbouring short spans of a lane are merged.

        As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a span, by lane and start, with the fields of
        a span as columns: names as dictionaries of strings, `start` and `end` as timestamps (ns, UTC), counts as
        uint32. Without `limit` it holds every span; with it, also `num_spans`. The schema's metadata has the
        `stream_seq`."""
        asked = checked(bodies.TimelineQuery(data=request.query_params))
        run = self.run(run_id)
        asked["start"], asked["end"] = asked.pop("from", None), asked.pop("to", None)
        if wants_arrow(request):
            return arrow_answer(request, span_stream(run.pk, **asked))
        return Response(timeline(run.pk, now=time.time(), **asked))


@method_decorator(gzip_json, name="dispatch")
class LaneStatesView(RunDataView):
    @extend_schema(parameters=[bodies.LaneStatesQuery], responses={200: component(LaneStates)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """How many lanes of each role did what, in buckets of a window: the timeline of a run of many lanes."""
        asked = checked(bodies.LaneStatesQuery(data=request.query_params))
        window = {"start": asked.get("from"), "end": asked.get("to")}
        return Response(lane_states(self.run(run_id).pk, buckets=asked["buckets"], **window))


@method_decorator(gzip_json, name="dispatch")
class PlannedTimeView(RunDataView):
    @extend_schema(responses={200: list_of(PlannedTime)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What each plan of the run promised for every lane, batch by batch, to be drawn above what happened. A batch
        begins where the timeline has a version."""
        return Response(planned_time(self.run(run_id).pk))


class TraceView(RunDataView):
    @extend_schema(parameters=[bodies.WindowQuery], responses={(200, "application/gzip"): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Lane time in a window as a file for Perfetto (https://ui.perfetto.dev): Trace Event Format, gzipped. Of a
        run with more than a million spans it holds the newest."""
        asked = checked(bodies.WindowQuery(data=request.query_params))
        run = self.run(run_id)
        trace = perfetto_trace(run.pk, start=asked.get("from"), end=asked.get("to"))
        response = HttpResponse(trace, content_type="application/gzip")
        name = f"{slugify(run.name) or 'run'}-trace.json.gz"
        response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
        return response


class BubblesView(RunDataView):
    renderer_classes = JSON_OR_ARROW

    @extend_schema(
        parameters=[bodies.WindowQuery],
        responses={(200, JSON): component(Bubbles), (200, ARROW): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """How the lanes of a run spent their time, in a window or over the whole run. The classes of a lane sum to its
        time.

        As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a class of a lane: `lane`, `role`, `class`
        (dictionaries of strings), `seconds` (float64). The schema's metadata has the `stream_seq`."""
        asked = checked(bodies.WindowQuery(data=request.query_params))
        run, window = self.run(run_id), {"start": asked.get("from"), "end": asked.get("to")}
        if wants_arrow(request):
            return arrow_answer(request, bubble_stream(run.pk, **window))
        return Response(bubbles(run.pk, **window))


class LaneSecondsView(RunDataView):
    @extend_schema(responses={200: component(LaneSeconds)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What a trajectory, a micro-batch and a scored sample take on each lane, as the run has measured it, beside
        lanes with the same device: which lane, and which trainer rank, is slower than its peers."""
        return Response(lane_seconds(self.run(run_id).pk))


class LendingView(RunDataView):
    @extend_schema(parameters=[bodies.LendingQuery], responses={200: component(Lending)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """Every decision to lend trainer lanes to generation, with its predicted and its realised gain."""
        asked = checked(bodies.LendingQuery(data=request.query_params))
        return Response(lending(self.run(run_id).pk, limit=asked["limit"]))


class StalenessView(RunDataView):
    @extend_schema(parameters=[bodies.StalenessQuery], responses={200: component(StalenessColumns)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """How many trajectories of each trained batch were how stale. With more than `max_columns` batches in the
        window, neighbours share a column."""
        asked = checked(bodies.StalenessQuery(data=request.query_params))
        return Response(staleness_columns(self.run(run_id).pk, **asked))


class PromptsView(RunDataView):
    @extend_schema(parameters=[bodies.PromptsQuery], responses={200: component(PromptAuditPage)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What became of each prompt's groups: how many had spread, were drawn again, lack scores. Prompts that were
        not drawn yet are counted only."""
        asked = checked(bodies.PromptsQuery(data=request.query_params))
        run = self.run(run_id)
        order = PromptOrder(asked["order"])
        return Response(prompt_audit(run.pk, run.prompts, order=order, offset=asked["offset"], limit=asked["limit"]))


class EventsView(RunDataView):
    @extend_schema(parameters=[bodies.EventsQuery], responses={200: page_schema(STREAM_ITEMS)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """Stream items, ascending: those after `after_seq`, else the newest. The websocket sends the same items."""
        asked = checked(bodies.EventsQuery(data=request.query_params))
        run = self.run(run_id)
        types, limit = self._types(bodies.parts(asked["types"])), asked["limit"]
        if "after_seq" in asked:
            items = selectors.stream_items(run.pk, after_seq=asked["after_seq"], limit=limit, types=types)
            return Response(_page(request, items, limit, "after_seq", -1))
        items = selectors.newest_items(run.pk, before_seq=asked.get("before_seq"), limit=limit, types=types)
        return Response(_page(request, items, limit, "before_seq", 0))

    def _types(self, asked: tuple[str, ...]) -> frozenset[str]:
        if asked == ("all",):
            return frozenset()
        return frozenset(asked) or ITEM_TYPES - BULK_TYPES


def _page(request: Request, items: list[Item], limit: int, cursor: str, last: int) -> dict[str, Any]:
    """A page; `next` continues beyond the item at index `last`, or is null if the page is not full."""
    following = None
    if len(items) == limit:
        following = address_with(request, cursor, items[last]["stream_seq"])
    return {"next": following, "results": items}
