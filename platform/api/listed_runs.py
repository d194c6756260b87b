"""The lines of the runs list, with a constant number of queries; `runs.selectors.run_body_for` makes one run's body."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import QuerySet

from accounts.access import roles_of
from accounts.models import User
from runs.lending.idle_lanes import idle_of
from runs.models import Run
from runs.run_body import ROW_FIELDS, ListedRun, listed_run, row_of_columns
from runs.wait_reasons import why_waiting


def listed_runs(user: User, runs: Iterable[Run]) -> list[ListedRun]:
    runs = list(runs)
    waiting, idle = why_waiting(runs), idle_of(runs)
    roles = roles_of(user)
    return [
        listed_run(
            run,
            role=roles.get(run.project_id),
            waiting=waiting.get(run.pk, ""),
            warning=idle.get(run.pk, ""),
        )
        for run in runs
    ]


def page_of_runs(
    user: User,
    rows: QuerySet[Run],
    paginate: Callable[[QuerySet[Any]], Iterable[Any] | None],
    chosen: frozenset[str] | None,
) -> list[Any]:
    """A page of the list. Where all `chosen` fields are columns, only these are read: no joins, and nothing of pool,
    roles and GPUs. `None` is all fields."""
    if chosen is None or not chosen <= ROW_FIELDS:
        return listed_runs(user, paginate(rows) or ())
    # Pages are told apart by the time of creation.
    return [row_of_columns(values) for values in paginate(rows.values(*chosen | {"created_at"})) or ()]
