"""Records in Django's admin, to be read: what changes them is a service, which checks, and is audited.

Invariant: no page of the admin shows a code, a token, a secret or a hash of one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

_SECRET_ENDINGS = ("_hash", "digest", "encrypted")
MAX_PER_PAGE = 50
"""Rows of a page: a run's row is wide, and one page of them is read at a time."""


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone
    """Lists and shows the records of a model to those whom Django lets read them, superusers first of all."""

    list_per_page = MAX_PER_PAGE
    # Counting all rows of a table of telemetry would take longer than showing one page.
    show_full_result_count = False

    def get_exclude(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return secret_columns(self.model)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """The filters that a list shows, and no other: Django lets an address compare any column in any way, of which
        PostgreSQL refuses some, such as the range of a JSON object."""
        return lookup.partition("__")[0] in map(str, self.get_list_filter(request))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The record; an empty `_to_field` of the address, which Django looks up as it is, names no other key."""
        return super().get_object(request, object_id, from_field or None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def secret_columns(model: type[models.Model]) -> list[str]:
    """Names of the columns that hold a secret, or the hash of one."""
    return [field.name for field in model._meta.fields if field.name.endswith(_SECRET_ENDINGS)]


def register(columns: Mapping[type[models.Model], Sequence[str]], base: type[ReadOnlyAdmin] = ReadOnlyAdmin) -> None:
    """Register models for reading, each with the columns of its list."""
    for model, names in columns.items():
        admin.site.register(model, base, list_display=tuple(names))
