"""The log of a run: its entries, its errors gathered, and the whole as a text."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.contract_schema import list_of, page_schema
from api.public_addresses import address_with
from api.request_parsing import checked
from api.serializers import telemetry as bodies
from api.views.telemetry import RunDataView
from telemetry.log.run_log_reads import (
    LogEntry,
    LogError,
    LogFilter,
    entries_after,
    log_errors,
    log_text,
    newest_entries,
)


class LogsView(RunDataView):
    @extend_schema(parameters=[bodies.LogsQuery], responses={200: page_schema(list_of(LogEntry))})
    def get(self, request: Request, run_id: UUID) -> Response:
        """Log records and events on one axis: those after `after_seq`, oldest first, else the newest, newest first.
        `next` is null at the end; with filters a page may hold few, and still not be the last."""
        asked = checked(bodies.LogsQuery(data=request.query_params))
        run, wanted, limit = self.run(run_id), _filter(asked), asked["limit"]
        if "after_seq" in asked:
            page = entries_after(run.pk, wanted, after_seq=asked["after_seq"], limit=limit)
            cursor = "after_seq"
        else:
            page = newest_entries(run.pk, wanted, before_seq=asked.get("before_seq"), limit=limit)
            cursor = "before_seq"
        following = None
        if page.searched_to is not None:
            following = address_with(request, cursor, page.searched_to)
        return Response({"next": following, "results": page.entries})


class LogErrorsView(RunDataView):
    @extend_schema(responses={200: page_schema(list_of(LogError))})
    def get(self, request: Request, run_id: UUID) -> Response:
        """The run's errors, those with the same message together, the newest first."""
        return Response({"next": None, "results": log_errors(self.run(run_id).pk)})


class LogTextView(RunDataView):
    @extend_schema(
        parameters=[bodies.LogFilterQuery], responses={(200, "text/plain"): OpenApiResponse(OpenApiTypes.STR)}
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The entries that match as a text, oldest first: of a very long log the newest."""
        run, wanted = self.run(run_id), _filter(checked(bodies.LogFilterQuery(data=request.query_params)))
        answer = HttpResponse(log_text(run.pk, wanted), content_type="text/plain; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.txt"'
        return answer


def _filter(asked: dict[str, Any]) -> LogFilter:
    return LogFilter(
        level=asked["level"],
        source=asked["source"],
        types=bodies.parts(asked["types"]),
        search=asked["search"],
        attempt=asked.get("attempt"),
    )
