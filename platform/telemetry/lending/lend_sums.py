"""Sums of lends: how long, for what, with what gain, by project, run, lane or GPU."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import with_config
from typing_extensions import TypedDict

from accounts.access import Actor
from accounts.models import Project
from telemetry.lending.lend_listing import LendsWanted, lends
from telemetry.lending.lend_rows import Lend, LenderKind

MAX_ROWS = 5000
"""Lends that sums are made of, at most, the newest: reading more would hold up the page that shows them."""


class LendsBy(StrEnum):
    BORROWER = "borrower"
    """The borrowing run's project."""
    LENDER = "lender"
    RUN = "run"
    LANE = "lane"
    GPU = "gpu"
    """A lend of a lane with several GPUs counts for each."""


@with_config(use_attribute_docstrings=True)
class LendSum(TypedDict):
    """The lends of one project, run, lane or GPU in a window."""

    key: str
    """Id, label or name of what was summed over; empty for the pool."""
    name: str
    num_lends: int
    lent_seconds: float
    """Lane time, inside the window or not; an open lend counts until now."""
    switch_seconds: float
    num_samples: int
    num_returned: int
    """Lends that were asked back and are given back."""
    max_return_seconds: float | None
    """The longest time from notice to return."""
    num_dropped: int
    num_graded: int
    """Lends with both a predicted and a realised gain, which the next two sum up."""
    predicted_gain_seconds: float
    realised_gain_seconds: float


def sums(user: Actor, wanted: LendsWanted, *, by: LendsBy) -> list[LendSum]:
    """Sums over the newest `MAX_ROWS` lends, the longest lent first."""
    rows = lends(user, wanted, limit=MAX_ROWS)
    named, found = _labels(by, rows), dict[str, LendSum]()
    for row in rows:
        for key, name in named(row):
            _add(found.setdefault(key, _nothing(key, name)), row)
    return sorted(found.values(), key=lambda each: (-each["lent_seconds"], each["name"]))


def _labels(by: LendsBy, rows: Sequence[Lend]) -> Callable[[Lend], list[tuple[str, str]]]:
    projects = {row["project"] for row in rows if row["project"]}
    names = {str(key): name for key, name in Project.objects.filter(pk__in=projects).values_list("pk", "name")}
    hidden = "another project"
    return {
        LendsBy.BORROWER: lambda row: [(row["project"] or "", names.get(row["project"] or "", hidden))],
        LendsBy.LENDER: lambda row: [(row["lender_project"] or "", _lender(row, names))],
        LendsBy.RUN: lambda row: [(row["run"] or "", row["run_name"])],
        LendsBy.LANE: lambda row: [(row["lane"], row["lane"] or row["lane_in_run"])],
        LendsBy.GPU: lambda row: [(gpu, gpu) for gpu in row["gpus"]],
    }[by]


def _lender(row: Lend, names: Mapping[str, str]) -> str:
    return row["lender"] if row["lender_kind"] != LenderKind.RUN else names.get(row["lender_project"] or "", "")


def _nothing(key: str, name: str) -> LendSum:
    return {
        "key": key,
        "name": name,
        "num_lends": 0,
        "lent_seconds": 0.0,
        "switch_seconds": 0.0,
        "num_samples": 0,
        "num_returned": 0,
        "max_return_seconds": None,
        "num_dropped": 0,
        "num_graded": 0,
        "predicted_gain_seconds": 0.0,
        "realised_gain_seconds": 0.0,
    }


def _add(total: LendSum, row: Lend) -> None:
    end = datetime.now(UTC) if row["end"] is None else datetime.fromisoformat(row["end"])
    total["num_lends"] += 1
    total["lent_seconds"] += max(0.0, (end - datetime.fromisoformat(row["begin"])).total_seconds())
    total["switch_seconds"] += row["switch_seconds"] or 0.0
    total["num_samples"] += row["num_samples"] or 0
    total["num_dropped"] += row["num_dropped"]
    if row["return_seconds"] is not None:
        total["num_returned"] += 1
        total["max_return_seconds"] = max(row["return_seconds"], total["max_return_seconds"] or 0.0)
    predicted, realised = row["predicted_gain_seconds"], row["realised_gain_seconds"]
    if predicted is not None and realised is not None:
        total["num_graded"] += 1
        total["predicted_gain_seconds"] += predicted
        total["realised_gain_seconds"] += realised
