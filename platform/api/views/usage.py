"""Who used the pool for how long, as JSON and as a table for spreadsheets."""

import csv
import io
from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import usage as bodies
from runs.pool.daily_usage import daily_usage
from runs.pool.lane_usage import UsageBy, UsageRow, usage

COLUMNS = ("key", "name", "lane_hours", "gpu_hours", "cost", "num_runs", "unpriced_gpu_hours")
Found = TypeVar("Found")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes text for a formula (OWASP, "CSV Injection")."""


class UsageView(APIView):
    @extend_schema(operation_id="usage_list", parameters=[bodies.UsageQuery], responses=page_of(bodies.UsageRow))
    def get(self, request: Request) -> Response:
        """Lane hours, GPU hours and cost inside the window. Of your projects; of all, for pool admins."""
        return Response({"next": None, "results": bodies.UsageRow(_rows(request), many=True).data})


class UsageTableView(APIView):
    @extend_schema(
        operation_id="usage_table",
        parameters=[bodies.UsageQuery],
        responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request) -> HttpResponse:
        """The same as CSV, with a header."""
        out = io.StringIO()
        table = csv.writer(out)
        table.writerow(COLUMNS)
        for row in _rows(request):
            table.writerow([_cell(getattr(row, column)) for column in COLUMNS])
        answer = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="usage.csv"'
        return answer


class DailyUsageView(APIView):
    @extend_schema(parameters=[bodies.UsageQuery], responses=bodies.DailyUsageBody)
    def get(self, request: Request) -> Response:
        """Lane hours, GPU hours and cost of each day, by what is asked for. Of your projects; of all, for pool
        admins."""
        return Response(bodies.DailyUsageBody(_asked(request, daily_usage)).data)


def _rows(request: Request) -> list[UsageRow]:
    return _asked(request, usage)


def _asked(request: Request, read: Callable[..., Found]) -> Found:
    """What `read` finds in the window. Raises `ValidationError` for a window that it refuses."""
    asked = checked(bodies.UsageQuery(data=request.query_params))
    try:
        return read(user_of(request), since=asked["since"], until=asked["until"], by=UsageBy(asked["by"]))
    except ValueError as error:
        raise ValidationError({"since": [str(error)]}) from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA_STARTS) else text
