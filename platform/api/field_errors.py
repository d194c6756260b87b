"""Errors of a request's body by dotted field path, as form, REST and CI jobs read them."""

from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from rest_framework.settings import api_settings

FieldErrors = dict[str, list[str]]
WHOLE = NON_FIELD_ERRORS
"""Path of errors that concern no single field."""


def django_errors(error: ValidationError) -> FieldErrors:
    """The messages of a service's `ValidationError`, by field."""
    if hasattr(error, "error_dict"):
        return {field: list(messages) for field, messages in error.message_dict.items()}
    return {WHOLE: list(error.messages)}


def drf_errors(detail: Any, path: tuple[str, ...] = ()) -> FieldErrors:
    """DRF's nested error detail as dotted paths."""
    found: FieldErrors = {}
    for key, value in _entries(detail):
        below = path if key == api_settings.NON_FIELD_ERRORS_KEY else (*path, key)
        for field, messages in drf_errors(value, below).items():
            found.setdefault(field, []).extend(messages)
    if not found:
        found[".".join(path) or WHOLE] = [str(entry) for entry in (detail if isinstance(detail, list) else [detail])]
    return found


def _entries(detail: Any) -> list[tuple[str, Any]]:
    """What lies below `detail`, by key or index; nothing when it is a message or a list of messages."""
    if isinstance(detail, dict):
        return [(str(key), value) for key, value in detail.items()]
    if isinstance(detail, list) and any(isinstance(entry, dict | list) for entry in detail):
        return [(str(place), value) for place, value in enumerate(detail) if value]
    return []
