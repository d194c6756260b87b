"""The lines of the runs list: each field says which columns it shows, and how it is made of them for a whole page.

    chosen fields ─► their columns, in one query ─► what a page of them needs besides, once ─► lines

A page has up to a thousand lines, so no row becomes an object, and nothing is read that no chosen field shows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any, cast
from uuid import UUID

from accounts.access import Actor, roles_of
from runs.legal_actions import actions_in, parked
from runs.lending.idle_lanes import idle_in
from runs.models import Run
from runs.report_storage import full_in
from runs.run_body import ListedRun, RunRow
from runs.run_queue import WAITING_STATES
from runs.wait_reasons import why_waiting_in
from worker.contracts.states import END_STATES, RunState

Columns = Mapping[str, Any]
"""Columns of a run, by the paths that a query names them by."""
Line = dict[str, Any]
"""A `ListedRun`, or the chosen fields of one."""


@dataclass(frozen=True, slots=True)
class LineField:
    """A field that is no column of its own name."""

    columns: tuple[str, ...]
    of_page: Callable[[Actor, Sequence[Columns]], Callable[[Columns], Any]]
    """Reads what the lines of a page need besides, and returns what makes the field of one of them."""


def _projects(user: Actor, page: Sequence[Columns]) -> Callable[[Columns], Any]:
    roles = roles_of(user)
    return lambda run: {
        "id": str(run["project_id"]),
        "name": run["project__name"],
        "role": roles.get(run["project_id"]),
    }


def _legal_actions(user: Actor, page: Sequence[Columns]) -> Callable[[Columns], Any]:
    without_lanes = parked(run["id"] for run in page if run["state"] == RunState.PAUSED)

    def made(run: Columns) -> list[str]:
        ending, resume_from = run["ending"], run["resume_from"]
        legal = actions_in(
            RunState(run["state"]), ending=ending, resume_from=resume_from, is_parked=run["id"] in without_lanes
        )
        return [action.value for action in legal]

    return made


def _waiting(user: Actor, page: Sequence[Columns]) -> Callable[[Columns], Any]:
    said = why_waiting_in({run["id"]: run["pool"] for run in page if run["state"] in WAITING_STATES})
    return lambda run: said.get(run["id"], "")


def _warnings(user: Actor, page: Sequence[Columns]) -> Callable[[Columns], Any]:
    active = {run["id"] for run in page if run["state"] not in END_STATES}
    said = idle_in(active) | full_in(active)
    return lambda run: said.get(run["id"], "")


_SWEEP = "sweep_place__point__sweep"


def _sweep(run: Columns) -> Line | None:
    if run[f"{_SWEEP}__id"] is None:
        return None
    name, number, seed = run[f"{_SWEEP}__name"], run["sweep_place__point__number"], run["sweep_place__seed"]
    return {"id": str(run[f"{_SWEEP}__id"]), "name": name, "point": number, "seed": seed}


OWN_COLUMNS = frozenset(RunRow.__annotations__)
"""Fields that are columns of the run of the same name."""
OTHER_FIELDS: dict[str, LineField] = {
    "project": LineField(("project_id", "project__name"), _projects),
    "created_by": LineField(("created_by__username",), lambda *_: lambda run: run["created_by__username"]),
    "legal_actions": LineField(("id", "state", "ending", "resume_from"), _legal_actions),
    "waiting": LineField(("id", "state", "pool"), _waiting),
    "warning": LineField(("id", "state"), _warnings),
    "sweep": LineField(
        (f"{_SWEEP}__id", f"{_SWEEP}__name", "sweep_place__point__number", "sweep_place__seed"),
        lambda *_: _sweep,
    ),
}
ALL_FIELDS = frozenset(ListedRun.__annotations__)
_AS_JSON: dict[type, Callable[[Any], str]] = {datetime: datetime.isoformat, UUID: str}
"""Of columns that are no JSON as they are."""


def columns_of(fields: Iterable[str]) -> set[str]:
    """What a query must read for these fields of a line."""
    return {column for name in fields for column in (OTHER_FIELDS[name].columns if name in OTHER_FIELDS else (name,))}


def run_lines(user: Actor, page: Sequence[Columns], fields: frozenset[str] = ALL_FIELDS) -> list[Line]:
    """The lines of a page, as `user` sees them, with a constant number of queries."""
    own = [name for name in RunRow.__annotations__ if name in fields]
    others = {name: field.of_page(user, page) for name, field in OTHER_FIELDS.items() if name in fields}
    return [
        {name: _plain(run[name]) for name in own} | {name: made(run) for name, made in others.items()} for run in page
    ]


def run_line(user: Actor, run: Run) -> ListedRun:
    """The line of a run that was read whole."""
    columns = {path: reduce(_follow, path.split("__"), run) for path in columns_of(ALL_FIELDS)}
    return cast(ListedRun, run_lines(user, [columns])[0])


def _follow(value: Any, name: str) -> Any:
    """A column of a row, or the row that it leads to; None where it leads to none."""
    return getattr(value, name, None)


def _plain(value: Any) -> Any:
    made = _AS_JSON.get(type(value))
    return value if made is None else made(value)
