"""DRF's refusals of a body or of query parameters as sentences: the one place where its own words are replaced.

A sentence names the key, what is accepted, and what was given, cut short. Messages of validators of our own are
sentences already and stay as they are.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from api.field_errors import WHOLE, FieldErrors
from worker.contracts.plain_json import text_problem
from worker.contracts.shown_values import shown

Field: TypeAlias = serializers.Field[Any, Any, Any, Any]

_KINDS: tuple[tuple[type[Any], str], ...] = (
    (serializers.BooleanField, "true or false"),
    (serializers.IntegerField, "a whole number"),
    (serializers.FloatField, "a number"),
    (serializers.DecimalField, "a number"),
    (serializers.DateTimeField, "a time such as 2026-05-01T12:00:00Z"),
    (serializers.UUIDField, "an id of 32 hexadecimal digits"),
    (serializers.CharField, "a text"),
    (serializers.BaseSerializer, "an object"),
    (serializers.DictField, "an object"),
    (serializers.ListField, "a list"),
    (serializers.JSONField, "a JSON value"),
)
"""What a field takes, by its class; the first that fits counts."""


def body_sentences(body: serializers.BaseSerializer[Any]) -> FieldErrors:
    """The errors of a serializer that is not valid, by dotted path."""
    found: FieldErrors = {}
    _collect(body, body.errors, body.initial_data, "", found)
    return found


def _collect(field: Field | None, detail: Any, given: Any, path: str, found: FieldErrors) -> None:
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            name = str(key)
            if name == api_settings.NON_FIELD_ERRORS_KEY:
                _collect(field, inner, given, path, found)
            else:
                below = f"{path}.{name}" if path else name
                _collect(_child(field, name), inner, _inside(given, key), below, found)
    elif isinstance(detail, list) and any(isinstance(one, Mapping | list) for one in detail):
        for index, inner in enumerate(detail):
            if inner:
                _collect(_child(field, str(index)), inner, _inside(given, index), f"{path}.{index}", found)
    else:
        said = detail if isinstance(detail, list) else [detail]
        found.setdefault(path or WHOLE, []).extend(_sentence(field, one, given, path) for one in said)


def _child(field: Field | None, name: str) -> Field | None:
    if isinstance(field, serializers.ListSerializer | serializers.ListField | serializers.DictField):
        return field.child
    fields: Mapping[str, Field] = getattr(field, "fields", {})
    return fields.get(name)


def _inside(given: Any, key: Any) -> Any:
    if isinstance(given, Mapping):
        return given.get(key)
    is_there = isinstance(given, list) and isinstance(key, int) and key < len(given)
    return given[key] if is_there else None


def _sentence(field: Field | None, detail: ErrorDetail, given: Any, path: str) -> str:
    wanted = None if _is_our_own(field, detail) else _wanted(field, detail.code, given)
    key = f"`{path}`" if path else "the body"
    if detail.code == "required":
        return f"{key} is missing: give it a value"
    if detail.code in ("null_characters_not_allowed", "surrogate_characters_not_allowed"):
        return f"{key} {text_problem(str(given))}"
    return str(detail) if wanted is None else f"{key} must be {wanted}, got {shown(given)}"


def _is_our_own(field: Field | None, detail: ErrorDetail) -> bool:
    """Whether a validator of ours wrote the message: DRF gives it the code of a value of the wrong kind."""
    template = str(getattr(field, "error_messages", {}).get("invalid", ""))
    pattern = re.sub(r"\\\{[^}]*\}", ".*", re.escape(template))
    return detail.code == "invalid" and re.fullmatch(pattern, str(detail), re.DOTALL) is None


def _wanted(field: Field | None, code: str | None, given: Any) -> str | None:
    """What the field takes, as the object of a sentence; `None` where the message itself says it."""
    kind = next((words for kind, words in _KINDS if isinstance(field, kind)), None)
    limits = {name: getattr(field, name, None) for name in ("min_value", "max_value", "min_length", "max_length")}
    match code:
        case "min_value":
            return f"≥ {limits['min_value']}"
        case "max_value" | "max_string_length":
            return f"≤ {limits['max_value']}"
        case "max_length" if isinstance(given, str):
            return f"a text of ≤ {limits['max_length']} characters (of {len(given)})"
        case "max_length":
            return f"a list of ≤ {limits['max_length']}"
        case "blank" | "min_length" if isinstance(given, str):
            return f"a text of ≥ {limits['min_length'] or 1} characters"
        case "min_length" | "empty":
            return f"a list of ≥ {limits['min_length'] or 1}"
        case "invalid_choice" | "null" if isinstance(field, serializers.ChoiceField):
            return f"one of {', '.join(map(str, field.choices))}"
        case "max_digits" | "max_decimal_places" | "max_whole_digits":
            digits, places = getattr(field, "max_digits", 0), getattr(field, "decimal_places", 0)
            return f"a number of ≤ {digits - places} digits before the point and ≤ {places} after it"
        case "null" | "invalid" | "not_a_list" | "not_a_dict" | "date" | "make_aware" | "overflow":
            return kind
    return None
