"""The ledger of lending between runs and within them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from api.contract_schema import list_of, page_schema
from api.public_addresses import address_with
from api.request_parsing import checked, user_of
from api.serializers import lends as bodies
from telemetry.lending.lend_listing import LendsWanted, cursor_of, lends, parse_cursor
from telemetry.lending.lend_rows import Lend, LendKind
from telemetry.lending.lend_sums import LendsBy, LendSum, sums


class LendsView(APIView):
    @extend_schema(
        operation_id="lends_list", parameters=[bodies.LendsPageQuery], responses={200: page_schema(list_of(Lend))}
    )
    def get(self, request: Request) -> Response:
        """Lanes lent between runs and within them, newest first: of your projects; all, for pool admins."""
        asked = checked(bodies.LendsPageQuery(data=request.query_params))
        rows = lends(user_of(request), _wanted(asked), limit=asked["limit"])
        following = None
        if len(rows) == asked["limit"]:
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
