"""The ledger of lending between runs and within them."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from api.arrow_answers import JSON, JSON_OR_ARROW, arrow_answer, wants_arrow
from api.contract_schema import list_of, page_schema
from api.pages import DEFAULT_PAGE
from api.public_addresses import address_with
from api.request_parsing import checked, user_of
from api.serializers import lends as bodies
from telemetry.arrow.arrow_stream import MEDIA_TYPE as ARROW
from telemetry.arrow.lend_stream import lend_stream
from telemetry.lending.lend_listing import LendsWanted, cursor_of, lends, parse_cursor
from telemetry.lending.lend_rows import Lend, LendKind
from telemetry.lending.lend_sums import LendsBy, LendSum, sums


class LendsView(APIView):
    renderer_classes = JSON_OR_ARROW

    @extend_schema(
        operation_id="lends_list",
        parameters=[bodies.LendsPageQuery],
        responses={(200, JSON): page_schema(list_of(Lend)), (200, ARROW): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Lanes lent between runs and within them, newest first: of your projects; all, for pool admins.

        As Arrow (`Accept: application/vnd.apache.arrow.stream`) a row is a lend, with its fields as columns: names as
        dictionaries of strings, those of several GPUs with commas between them, times as timestamps (ns, UTC), counts
        as uint32, seconds as float64. Without `limit` it holds every lend."""
        asked = checked(bodies.LendsPageQuery(data=request.query_params))
        user, wanted = user_of(request), _wanted(asked)
        if wants_arrow(request):
            return arrow_answer(request, lend_stream(user, wanted, limit=asked.get("limit")))
        limit = asked.get("limit", DEFAULT_PAGE)
        rows = lends(user, wanted, limit=limit)
        following = None
        if len(rows) == limit:
            following = address_with(request, "cursor", cursor_of(rows[-1]))
        return Response({"next": following, "results": rows})


class LendSumsView(APIView):
    @extend_schema(
        operation_id="lends_sums", parameters=[bodies.LendSumsQuery], responses={200: page_schema(list_of(LendSum))}
    )
    def get(self, request: Request) -> Response:
        """Sums over the newest lends, at most 5,000."""
        asked = checked(bodies.LendSumsQuery(data=request.query_params))
        return Response({"next": None, "results": sums(user_of(request), _wanted(asked), by=LendsBy(asked["by"]))})


def _wanted(asked: dict[str, Any]) -> LendsWanted:
    try:
        before = parse_cursor(asked["cursor"]) if asked.get("cursor") else None
    except ValueError as error:
        raise ValidationError({"cursor": [str(error)]}) from error
    return LendsWanted(
        since=asked["since"],
        until=asked["until"],
        kind=None if asked["kind"] is None else LendKind(asked["kind"]),
        run=asked["run"],
        project=asked["project"],
        lane=asked["lane"],
        before=before,
    )
