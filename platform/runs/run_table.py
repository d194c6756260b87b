"""The table of runs: any stretch of the rows that match, in any order, under groups with their counts.

```text
rows that match ─► group key of each (a run of three tags stands in three groups) ─► counts and sums by key
                └► order: group, column, newest ─► keys of one stretch ─► the rows of these
```

Stretches are by offset, so that a scroll bar may jump; whoever needs pages that are stable while runs are added reads
`GET /runs`, which goes by cursor.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import (
    Avg,
    Case,
    Count,
    F,
    FloatField,
    Func,
    JSONField,
    Max,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Lower, Now, NullIf

from runs.models import Run
from worker.contracts.states import END_STATES, RunState


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
    MODEL = "model"
    PRESET = "preset"
    ALGORITHM = "algorithm"


class _TagOrNone(Func):
    """Each tag of the run; an empty text for a run without any."""

    function = "jsonb_array_elements_text"
    set_returning = True


_REWARD = Cast(KeyTextTransform("reward_after", "headline"), FloatField())
"""Held-out, of the newest evaluation."""
_COLUMNS: dict[RunColumn, Any] = {
    RunColumn.CREATED: F("created_at"),
    RunColumn.NAME: Lower("name"),
    RunColumn.STATE: F("state"),
    RunColumn.PROGRESS: Cast("num_batches_done", FloatField()) / NullIf(F("num_batches"), Value(0)),
    RunColumn.REWARD: _REWARD,
    RunColumn.STARTED: F("started_at"),
    RunColumn.DURATION: Coalesce(F("ended_at"), Now()) - F("started_at"),
}
_LIVE = [state.value for state in RunState if state not in (*END_STATES, RunState.QUEUED)]
_GROUPS: dict[GroupBy, Any] = {
    GroupBy.PROJECT: F("project__name"),
    GroupBy.STATE: F("state"),
    GroupBy.TAG: _TagOrNone(
        Case(When(tags=[], then=Value([""], JSONField())), default=F("tags")), output_field=TextField()
    ),
    GroupBy.USER: Coalesce(F("created_by__username"), Value("")),
    GroupBy.POOL: F("pool"),
    GroupBy.MODEL: F("base_model"),
    GroupBy.PRESET: F("preset"),
    GroupBy.ALGORITHM: F("algorithm"),
}


@dataclass(frozen=True, slots=True)
class RunGroupSums:
    """A group, with sums over its runs."""

    value: str
    """What its runs have in common; empty for none: no tag, no preset, a deleted account."""
    number: int
    num_live: int
    """Runs that hold lanes or are about to."""
    num_failed: int
    num_batches_done: int
    best_reward: float | None
    """The best held-out reward of the newest evaluations; None where no run was evaluated."""
    mean_reward: float | None


@dataclass(frozen=True, slots=True)
class RunTable:
    number: int
    """Of all runs that match."""
    groups: tuple[RunGroupSums, ...]
    """In the order of their rows, which they count; none unless grouped. A run of several tags has a row for each."""
    run_ids: tuple[UUID, ...]
    """Of the stretch, in order; with tags one may stand there several times."""


def run_table(
    rows: QuerySet[Run], *, order: RunColumn, descending: bool, group: GroupBy | None, offset: int, limit: int
) -> RunTable:
    """`limit` of the rows from `offset` on. Rows without a value of the column come last in either direction."""
    column = _COLUMNS[order]
    ordering = [column.desc(nulls_last=True) if descending else column.asc(nulls_last=True), "-created_at", "-pk"]
    groups = () if group is None else _summed(rows, _GROUPS[group])
    keys = _stretch(rows, group, groups, ordering, offset, limit)
    # A run of several tags is counted with each of them.
    is_counted = group not in (None, GroupBy.TAG)
    number = sum(one.number for one in groups) if is_counted else rows.count()
    return RunTable(number, groups, tuple(keys))


def _stretch(
    rows: QuerySet[Run],
    group: GroupBy | None,
    groups: Iterable[RunGroupSums],
    ordering: list[Any],
    offset: int,
    limit: int,
) -> list[UUID]:
    """Keys of the runs of one stretch, in order."""
    if group is None:
        return list(rows.order_by(*ordering).values_list("pk", flat=True)[offset : offset + limit])
    # Where one group holds all of it, as on every deep page, the others need not be sorted before it.
    before = 0
    for one in groups:
        if before <= offset and offset + limit <= before + one.number:
            own = _of_group(rows, group, one.value).order_by(*ordering)
            return list(own.values_list("pk", flat=True)[offset - before : offset - before + limit])
        before += one.number
    found = rows.annotate(key=_GROUPS[group]).order_by("key", *ordering)
    return list(found.values_list("pk", flat=True)[offset : offset + limit])


def _of_group(rows: QuerySet[Run], group: GroupBy, value: str) -> QuerySet[Run]:
    if group is GroupBy.TAG:
        return rows.filter(tags__contains=[value]) if value else rows.filter(tags=[])
    return rows.annotate(key=_GROUPS[group]).filter(key=value)


def _summed(rows: QuerySet[Run], key: Any) -> tuple[RunGroupSums, ...]:
    sums = {
        "number": Count("pk"),
        "num_live": Count("pk", filter=Q(state__in=_LIVE)),
        "num_failed": Count("pk", filter=Q(state=RunState.FAILED)),
        "num_batches_done": Coalesce(Sum(F("num_batches_done")), Value(0)),
        "best_reward": Max(_REWARD),
        "mean_reward": Avg(_REWARD),
    }
    found: Iterable[Any] = rows.order_by().annotate(key=key).values("key").annotate(**sums).order_by("key")
    return tuple(RunGroupSums(one["key"], **{name: one[name] for name in sums}) for one in found)
