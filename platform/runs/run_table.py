"""The table of runs: any stretch of the rows that match, in any order, under groups with their counts.

```text
rows that match ─► group key of each (a run of three tags stands in three groups) ─► counts by key
                └► order: group, column, newest ─► keys of one stretch ─► the rows of these
```

Stretches are by offset, so that a scroll bar may jump; whoever needs pages that are stable while runs are added reads
`GET /runs`, which goes by cursor.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Case, Count, F, FloatField, Func, JSONField, QuerySet, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Lower, Now, NullIf

from runs.models import Run


class RunColumn(StrEnum):
    """What the table can be ordered by."""

    CREATED = "created"
    NAME = "name"
    STATE = "state"
    PROGRESS = "progress"
    REWARD = "reward"
    STARTED = "started"
    DURATION = "duration"


class GroupBy(StrEnum):
    """What the table can be grouped by."""

    PROJECT = "project"
    STATE = "state"
    TAG = "tag"
    USER = "user"
    POOL = "pool"


class _TagOrNone(Func):
    """Each tag of the run; an empty text for a run without any."""

    function = "jsonb_array_elements_text"
    set_returning = True


_COLUMNS: dict[RunColumn, Any] = {
    RunColumn.CREATED: F("created_at"),
    RunColumn.NAME: Lower("name"),
    RunColumn.STATE: F("state"),
    RunColumn.PROGRESS: Cast("num_batches_done", FloatField()) / NullIf(F("num_batches"), Value(0)),
    RunColumn.REWARD: Cast(KeyTextTransform("reward_after", "headline"), FloatField()),
    RunColumn.STARTED: F("started_at"),
    RunColumn.DURATION: Coalesce(F("ended_at"), Now()) - F("started_at"),
}
_GROUPS: dict[GroupBy, Any] = {
    GroupBy.PROJECT: F("project__name"),
    GroupBy.STATE: F("state"),
    GroupBy.TAG: _TagOrNone(
        Case(When(tags=[], then=Value([""], JSONField())), default=F("tags")), output_field=TextField()
    ),
    GroupBy.USER: Coalesce(F("created_by__username"), Value("")),
    GroupBy.POOL: F("pool"),
}


@dataclass(frozen=True, slots=True)
class RunGroupCount:
    value: str
    """What its runs have in common; empty for none: no tag, a deleted account."""
    number: int


@dataclass(frozen=True, slots=True)
class RunTable:
    number: int
    """Of all runs that match."""
    groups: tuple[RunGroupCount, ...]
    """In the order of their rows, which they count; none unless grouped. A run of several tags has a row for each."""
    runs: tuple[Run, ...]


def run_table(
    rows: QuerySet[Run], *, order: RunColumn, descending: bool, group: GroupBy | None, offset: int, limit: int
) -> RunTable:
    """`limit` of the rows from `offset` on. Rows without a value of the column come last in either direction."""
    column = _COLUMNS[order]
    ordering = [column.desc(nulls_last=True) if descending else column.asc(nulls_last=True), "-created_at", "-pk"]
    if group is None:
        groups: tuple[RunGroupCount, ...] = ()
        found = rows.order_by(*ordering)
    else:
        groups = _counted(rows, _GROUPS[group])
        found = rows.annotate(key=_GROUPS[group]).order_by("key", *ordering)
    keys = list(found.values_list("pk", flat=True)[offset : offset + limit])
    by_key = rows.order_by().in_bulk(set(keys))
    return RunTable(rows.count(), groups, tuple(by_key[key] for key in keys if key in by_key))


def _counted(rows: QuerySet[Run], key: Any) -> tuple[RunGroupCount, ...]:
    counts = rows.order_by().annotate(key=key).values("key").annotate(number=Count("pk")).order_by("key")
    return tuple(RunGroupCount(one["key"], one["number"]) for one in counts)
