"""`fields=`: answers with the fields that a script asks for alone, which saves it most of a long list.

Names are looked up in the schema before the view runs, so that a misspelt one is refused on an empty page, too.
"""

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from api.openapi_document import Schema, answer_fields, openapi_document, path_of
from telemetry.unreadable import count_unreadable

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.views import APIView

NAME = "fields"
NAME_ON_REQUEST = "chosen_fields"
PARAMETER: Schema = {
    "in": "query",
    "name": NAME,
    "schema": {"type": "string"},
    "description": "Names of fields, with commas between them: the answer, or each of its rows, has these alone.",
}


class ChosenFields(BasePermission):
    """Not a permission: it stands among them, because DRF asks them before every view."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Always true. Raises `ValidationError` for names that the answer has not."""
        if NAME in request.query_params:
            names = [name.strip() for name in request.query_params[NAME].split(",")]
            _require_known(request, names)
            setattr(request, NAME_ON_REQUEST, frozenset(names))
        return True


def chosen_fields(request: Request) -> frozenset[str] | None:
    """The fields that the answer is to have; None for all. A view may leave the rest unread."""
    found: frozenset[str] | None = getattr(request, NAME_ON_REQUEST, None)
    return found


class FieldsRenderer(JSONRenderer):
    """Renders JSON, of successful answers the chosen fields."""

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        context = renderer_context or {}
        names = chosen_fields(context["request"]) if "request" in context else None
        if names is not None and context["response"].status_code < 300:
            data = _only(data, names)
        try:
            rendered: bytes = super().render(data, accepted_media_type, renderer_context)
        except ValueError:
            # JSON has no such numbers, and one of them in a stored row must not hide all the others.
            finite, number = _finite(data)
            if not number:
                raise
            count_unreadable("number", number)
            rendered = super().render(finite, accepted_media_type, renderer_context)
        return rendered


def add_parameter(document: Schema) -> None:
    """Describe `fields` on every operation of the document that can be asked so."""
    for operations in document["paths"].values():
        if "get" in operations and can_choose(document, operations["get"]):
            operations["get"].setdefault("parameters", []).append(PARAMETER)


def can_choose(document: Schema, operation: Schema) -> bool:
    """Whether its answer has fields of fixed names. What answers anybody, as the probes of health, is asked by programs
    that read all of it, and DRF asks no permission of them."""
    return {} not in operation.get("security", ()) and bool(answer_fields(document, operation))


def _require_known(request: Request, names: list[str]) -> None:
    document = openapi_document()
    match = request.resolver_match
    operation = document["paths"].get(path_of(match.route if match else ""), {}).get("get")
    known = answer_fields(document, operation) if operation else ()
    if not known:
        raise ValidationError({NAME: [f"`{NAME}` is no query parameter here: the answer has no fields of fixed names"]})
    if unknown := [name for name in names if name not in known]:
        raise ValidationError({NAME: [_sentence(name[:80], known) for name in unknown]})


def _sentence(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"`{NAME}` has no `{name}`: " + (f"did you mean `{near[0]}`?" if near else f"use some of {', '.join(known)}")


def _finite(data: Any) -> tuple[Any, int]:
    """The data with null for each number that is not finite, and how many there were."""
    match data:
        case float() if not math.isfinite(data):
            return None, 1
        case Mapping():
            parts = {name: _finite(value) for name, value in data.items()}
            return {name: value for name, (value, _) in parts.items()}, sum(number for _, number in parts.values())
        case list() | tuple():
            values = [_finite(value) for value in data]
            return [value for value, _ in values], sum(number for _, number in values)
    return data, 0


def _only(data: Any, names: frozenset[str]) -> Any:
    if isinstance(data, list):
        return [_only(row, names) for row in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == {"next", "results"}:
        return {**data, "results": _only(data["results"], names)}
    return {name: value for name, value in data.items() if name in names}
