"""Operations: long work that requests began. Whoever sees what an operation is about sees it."""

from datetime import datetime

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import TokenScope, User
from api.contract_schema import component, list_of, page_schema
from api.pages import CursorPage
from api.public_addresses import public_address
from api.request_parsing import checked, user_of
from api.serializers import operations as bodies
from operations.operation_body import OperationBody
from operations.operation_source import OperationFilter
from operations.selectors import Place, begun_by, operation, operations
from operations.services import cancel_operation

BETWEEN = "~"
"""Of the time and the id in a cursor; no id has it."""


class OperationPages(CursorPage):
    """Pages of what is read from several tables: a cursor holds the place after which the next page begins."""

    def page(self, request: Request, user: User, wanted: OperationFilter, *, oldest_first: bool) -> Response:
        self.base_url = public_address(request)
        size = self.get_page_size(request)
        # One more than is shown tells whether there is a next page.
        found = operations(user, wanted, after=self._place(request), number=size + 1, oldest_first=oldest_first)
        shown = found[:size]
        following = self._address_after(shown[-1]) if len(found) > size else None
        return Response({"next": following, "results": shown})

    def _place(self, request: Request) -> Place | None:
        cursor = self.decode_cursor(request)
        if cursor is None:
            return None
        at, _, key = (cursor.position or "").partition(BETWEEN)
        try:
            return Place(datetime.fromisoformat(at), key)
        except ValueError as error:
            raise NotFound(self.invalid_cursor_message) from error

    def _address_after(self, last: OperationBody) -> str:
        place = f"{last['created_at']}{BETWEEN}{last['id']}"
        return str(self.encode_cursor(Cursor(offset=0, reverse=False, position=place)))


class OperationsView(APIView):
    @extend_schema(
        operation_id="operations_list",
        parameters=[bodies.OperationsQuery],
        responses={200: page_schema(list_of(OperationBody))},
    )
    def get(self, request: Request) -> Response:
        """Previews, commands to runs, resizes, sweeps, tests of GPUs, drains: what is under way and what has ended, the
        newest first. Runs are no operations: they have a list of their own."""
        asked = checked(bodies.OperationsQuery(data=request.query_params))
        user = user_of(request)
        wanted = OperationFilter(
            kinds=asked.get("kind", ()),
            states=asked.get("state", ()),
            run=asked.get("run"),
            project=asked.get("project"),
            asked_by=user.username if asked["mine"] else "",
            ids=begun_by(asked["request_id"]) if "request_id" in asked else None,
        )
        return OperationPages().page(request, user, wanted, oldest_first=asked["order"] == bodies.ORDERS[1])


class OperationView(APIView):
    @extend_schema(responses={200: component(OperationBody)})
    def get(self, request: Request, operation_id: str) -> Response:
        """How far an operation is; poll it until `ended_at` is there."""
        return Response(operation(user_of(request), operation_id))


class CancelOperationView(APIView):
    # What an operation is about says which scope its cancelling needs.
    write_scope = TokenScope.READ
    services_check_scope = True

    @extend_schema(request=None, responses={200: component(OperationBody)})
    def post(self, request: Request, operation_id: str) -> Response:
        """Take an operation back. Previews, sweeps and drains can be; of others, and of one that has ended, a 409 says
        what is possible, also as `legal_actions`."""
        return Response(cancel_operation(user=user_of(request), operation_id=operation_id))
