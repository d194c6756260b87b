"""Cursor pages `{next, results}`: forward only, no count, stable while rows are added."""

from functools import cache
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from api.public_addresses import public_address
from worker.contracts.plain_json import text_problem
from worker.contracts.shown_values import shown

DEFAULT_PAGE = 100
MAX_PAGE = 1000


class CursorPage(CursorPagination):
    page_size = DEFAULT_PAGE
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE

    def get_page_size(self, request: Request) -> int:
        """Raises `ValidationError` where DRF takes the default."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return DEFAULT_PAGE
        if not (
            asked.isascii() and asked.isdigit() and len(asked) <= len(str(MAX_PAGE)) and 1 <= int(asked) <= MAX_PAGE
        ):
            raise ValidationError(
                {"limit": [f"`limit` must be a whole number ≥ 1 and ≤ {MAX_PAGE}, got {shown(asked)}"]}
            )
        return int(asked)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        page: list[Any] | None = super().paginate_queryset(queryset, request, view)
        self.base_url = public_address(request)
        return page

    def decode_cursor(self, request: Request) -> Any:
        """Raises `NotFound` for a cursor that no page gave."""
        cursor = super().decode_cursor(request)
        if cursor is not None and text_problem(cursor.position or ""):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {"type": ["string", "null"], "format": "uri"},
                "results": schema,
            },
        }


class NewestFirst(CursorPage):
    ordering = ("-created_at", "-pk")


class ByName(CursorPage):
    ordering = ("name", "pk")


@cache
def page_of(body: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """A serializer of `{next, results: [body]}`; cached, because the schema names it by its class."""
    fields = {
        "next": serializers.URLField(allow_null=True),
        "results": body(many=True),
        "__doc__": f"One page: {body.__doc__ or body.__name__}",
    }
    name = f"{body.__name__.removesuffix('Body')}Page"
    made: type[serializers.Serializer[Any]] = type(name, (serializers.Serializer,), fields)
    return made()
