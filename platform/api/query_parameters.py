"""Refuses query parameters that the schema does not list, so that a misspelt one is an error and not a default."""

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.views import APIView

PAGING = ("cursor", "limit")
READERS = ("get", "list", "retrieve")
"""Whose answers may be narrowed: `api.chosen_fields` refuses those that cannot."""


class KnownParameters(BasePermission):
    """Not a permission: it stands among them, because DRF asks them before every view and after authentication."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Always true. Raises `ValidationError` naming what is unknown, `Http404` for a path that can name nothing."""
        if "\0" in request.path:
            raise Http404
        handler = getattr(view, "action", None) or (request.method or "").lower()
        known = known_parameters(view.__class__, handler)
        if unknown := [name for name in request.query_params if name not in known]:
            raise ValidationError({name[:80]: [_sentence(name[:80], known)] for name in unknown})
        return True


@cache
def known_parameters(view: "type[APIView]", handler: str) -> tuple[str, ...]:
    """The names of the query parameters that a method of a view documents."""
    schema = getattr(getattr(view, handler, None), "kwargs", {}).get("schema")
    found = [] if schema is None else _documented(schema, view)
    is_listing = getattr(view, "pages", None) is not None or (
        getattr(view, "pagination_class", None) is not None and handler == "list"
    )
    can_choose = handler in READERS
    return tuple(dict.fromkeys([*found, *(PAGING if is_listing else ()), *(("fields",) if can_choose else ())]))


def _documented(schema: type[Any], view: "type[APIView]") -> list[str]:
    described = schema()
    described.view = view()
    described.view.request = None
    described.view.kwargs = {}
    names: list[str] = []
    for parameter in described.get_override_parameters():
        if not isinstance(parameter, OpenApiParameter):
            names += parameter().fields
        elif parameter.location == OpenApiParameter.QUERY:
            names.append(parameter.name)
    return names


def _sentence(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"`{name}` is no query parameter here: did you mean `{near[0]}`?"
    listed = f"use one of {', '.join(known)}" if known else "this address takes none"
    return f"`{name}` is no query parameter here: {listed}"
