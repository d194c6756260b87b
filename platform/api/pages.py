"""Cursor pages `{next, results}`: forward only, no count, stable while rows are added."""

from typing import Any

from rest_framework.pagination import CursorPagination
from rest_framework.response import Response

DEFAULT_PAGE = 100
MAX_PAGE = 1000


class CursorPage(CursorPagination):
    page_size = DEFAULT_PAGE
    page_size_query_param = "limit"
    max_page_size = MAX_PAGE

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {"type": "string", "nullable": True, "format": "uri"},
                "results": schema,
            },
        }


class NewestFirst(CursorPage):
    ordering = ("-created_at", "-pk")


class ByName(CursorPage):
    ordering = ("name", "pk")
