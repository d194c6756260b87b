"""The kinds of field that requests are made of, each with bounds and their reason.

DRF's own take texts of any length, numbers that are not finite, and times at which arithmetic overflows. Invariant,
held by a test: no field of a body or of query parameters is unbounded.
"""

import math
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers

from api.pages import MAX_PAGE
from fleet.pools.annotate import MAX_LABEL_CHARS, MAX_LABELS

MAX_ID = 2**63 - 1
"""The largest key that the database can hold."""
MAX_NAME_CHARS = 255
"""Of a name that is looked for: no column that holds one is longer."""
MAX_SEARCH_CHARS = 500
"""Of words that are looked for in rows: more than anybody types."""
MAX_LISTED_CHARS = 8000
"""Of names or ids separated by commas: servers and proxies refuse addresses that are longer."""
MAX_CURSOR_CHARS = 1000
"""Of a page's cursor: a position is a time or a name."""
FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT = datetime(2200, 1, 1, tzinfo=UTC)
"""Beyond any run's life, and far from where windows around it overflow."""


def name_to_find(**options: Any) -> serializers.CharField:
    """The name of something that is looked for."""
    return serializers.CharField(max_length=MAX_NAME_CHARS, **options)


def words_to_find(**options: Any) -> serializers.CharField:
    """Words that are looked for."""
    return serializers.CharField(max_length=MAX_SEARCH_CHARS, **options)


def listed(**options: Any) -> serializers.CharField:
    """Names or ids separated by commas."""
    return serializers.CharField(max_length=MAX_LISTED_CHARS, **options)


class SomeOf(serializers.CharField):
    """One or several of these names, separated by commas, read as a list."""

    def __init__(self, known: Collection[str], **options: Any) -> None:
        self.known = list(known)
        super().__init__(max_length=MAX_LISTED_CHARS, **options)

    def to_internal_value(self, data: Any) -> Any:
        names = [name.strip() for name in super().to_internal_value(data).split(",")]
        if unknown := [name for name in names if name not in self.known]:
            raise serializers.ValidationError(
                f"`{self.field_name}` must be one or several of {', '.join(self.known)}, got `{unknown[0][:40]}`"
            )
        return names


def some_of(what: str, known: Collection[str]) -> SomeOf:
    return SomeOf(known, required=False, help_text=f"{what}, separated by commas: {', '.join(known)}.")


def cursor() -> serializers.CharField:
    help_text = "Of the page, from `next` of the page before."
    return serializers.CharField(required=False, max_length=MAX_CURSOR_CHARS, help_text=help_text)


def page_limit(of: str) -> serializers.IntegerField:
    return serializers.IntegerField(required=False, min_value=1, max_value=MAX_PAGE, help_text=f"{of} of a page.")


class Number(serializers.FloatField):
    """A finite number."""

    def to_internal_value(self, data: Any) -> float:
        value: float = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class Moment(serializers.DateTimeField):
    """A point in time between `FIRST_MOMENT` and `LAST_MOMENT`."""

    def to_internal_value(self, value: Any) -> datetime:
        found: datetime = super().to_internal_value(value)
        if not FIRST_MOMENT <= found <= LAST_MOMENT:
            raise serializers.ValidationError(
                f"`{self.field_name}` must lie between the years {FIRST_MOMENT.year} and {LAST_MOMENT.year}, "
                f"got {found.year}",
                code="beyond",
            )
        return found


def unix_seconds(**options: Any) -> Number:
    """A point in time as Unix seconds."""
    return Number(min_value=FIRST_MOMENT.timestamp(), max_value=LAST_MOMENT.timestamp(), **options)


class Labels(serializers.DictField):
    """Labels of a lane, a GPU or a node."""

    child = serializers.CharField(allow_blank=True, max_length=MAX_LABEL_CHARS)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and len(data) > MAX_LABELS:
            raise serializers.ValidationError(
                f"`{self.field_name}` must be ≤ {MAX_LABELS}, got {len(data)}: keep the useful ones",
                code="too_many",
            )
        return super().to_internal_value(data)
