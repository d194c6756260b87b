"""The ledger of lending as an Arrow stream: a row for each lend, newest first."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

from accounts.access import Actor
from runs.run_body import IsoTime
from telemetry.arrow.arrow_stream import Column, Kind, arrow_stream
from telemetry.lending.lend_listing import LendsWanted, cursor_of, lends, parse_cursor
from telemetry.lending.lend_rows import Lend

PAGE_LENDS = 1000
"""Lends of a record batch, each of which takes some queries of runs' events."""
_KINDS: dict[Any, Kind] = {
    IsoTime: Kind.TIME,
    int: Kind.COUNT,
    float: Kind.VALUE,
    str: Kind.NAME,
    list[str]: Kind.NAME,
}
"""By the type of a lend's field; the first that is found of a union counts."""


def _column(name: str, hint: Any) -> Column:
    parts = (hint, *get_args(hint))
    return Column(name, next(_KINDS[part] for part in parts if part in _KINDS), may_lack=NoneType in parts)


COLUMNS = tuple(_column(name, hint) for name, hint in get_type_hints(Lend, include_extras=True).items())


def lend_stream(user: Actor, wanted: LendsWanted, *, limit: int | None, page_rows: int = PAGE_LENDS) -> Iterator[bytes]:
    """The lends of `lends`, all of them or the newest `limit`, as the user sees them."""
    return arrow_stream(COLUMNS, _pages(user, wanted, limit, page_rows), {})


def _pages(user: Actor, wanted: LendsWanted, limit: int | None, page_rows: int) -> Iterator[list[tuple[Any, ...]]]:
    left = limit
    while left is None or left > 0:
        size = page_rows if left is None else min(page_rows, left)
        found = lends(user, wanted, limit=size)
        if found:
            yield [tuple(_plain(column, row) for column in COLUMNS) for row in found]
        if len(found) < size:
            return
        wanted = replace(wanted, before=parse_cursor(cursor_of(found[-1])))
        left = None if left is None else left - size


def _plain(column: Column, row: Lend) -> Any:
    value = dict(row)[column.name]
    if isinstance(value, list):
        return ",".join(value)
    if column.kind is Kind.TIME and isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    return value
