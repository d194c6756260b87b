"""Stores what reports say in as few and as narrow statements as they allow: most of a report is the same each time.

values that always change  ─► one UPDATE of these columns alone
everything else            ─► one statement for the rows in which something differs, usually none
"""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import connection

from fleet.models import Gpu, Node

Row = TypeVar("Row", Node, Gpu)


class Watched(Generic[Row]):
    """Rows of which these columns are stored at the end where they differ from what they were when first seen."""

    def __init__(self, model: type[Row], columns: Iterable[str]) -> None:
        self._model: type[Row] = model
        self._columns = tuple(columns)
        self._rows: dict[int, tuple[Row, tuple[Any, ...]]] = {}

    def add(self, row: Row) -> Row:
        """Watch a row from now on; a row that is watched already stays compared with what it was."""
        self._rows.setdefault(row.pk, (row, self._values(row)))
        return row

    def rows(self) -> list[Row]:
        return [row for row, _ in self._rows.values()]

    def store(self) -> int:
        """Write the rows that differ with one statement; returns their number."""
        changed = [row for row, before in self._rows.values() if self._values(row) != before]
        self._model._default_manager.bulk_create(
            changed, update_conflicts=True, unique_fields=["id"], update_fields=list(self._columns)
        )
        return len(changed)

    def _values(self, row: Row) -> tuple[Any, ...]:
        # Mutable values are replaced by reports, never written into.
        return tuple(getattr(row, column) for column in self._columns)


def store_live_values(gpus: Collection[Gpu], at: datetime) -> None:
    """Write what the GPUs do now, and that they were reported.

    Plain SQL, since an upsert by the ORM builds each row's placeholders in Python, most of what such a post cost.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f'UPDATE "{Gpu._meta.db_table}" AS gpu SET live = new.live, reported_at = %s '
            "FROM unnest(%s::bigint[], %s::jsonb[]) AS new(id, live) WHERE gpu.id = new.id",
            [at, [gpu.pk for gpu in gpus], [json.dumps(gpu.live) for gpu in gpus]],
        )
