"""A sweep as plain JSON, as REST sends it: a line of the list, and one in full with its points.

The typed dictionaries define the JSON: mypy checks the functions of `sweeps.selectors` against them, and the schema is
made from them.
"""

from typing import Annotated, Any

from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import SweepState
from runs.run_body import IsoTime, RunProject, StateJson
from sweeps.progress import PointState
from sweeps.sweep_plan import SweepPlan
from worker.contracts.base import JsonOf


@with_config(use_attribute_docstrings=True)
class SweepCounts(TypedDict):
    num_points: int
    num_runs: int
    """Of all points with all seeds, whether they were created yet or not."""
    num_runs_ended: int
    """Those that could not be created, or were deleted since, included."""
    num_runs_live: int


@with_config(use_attribute_docstrings=True)
class BestPoint(TypedDict):
    """The point with the best value of the objective now."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    value: float
    """Mean of its runs' newest values."""
    run: str
    """Id of the best of its runs."""


@with_config(use_attribute_docstrings=True)
class ListedSweep(SweepCounts):
    """A line of the list of sweeps, as one reader may see it."""

    id: str
    operation: str
    """Its operation: `GET /operations/{id}`."""
    name: str
    project: RunProject
    created_by: str | None
    """Name of the user; null for an account that was deleted."""
    created_at: IsoTime
    ended_at: IsoTime | None
    state: Annotated[str, JsonOf(SweepState)]
    reason: str
    """Why it starts no more runs; empty while it does, and for one that ended by itself."""
    num_pruned: int
    best: BestPoint | None
    """Null before the first value."""
    gpu_hours: float
    """Of the lanes that its runs held; CPU lanes cost none."""
    budget_gpu_hours: float | None


@with_config(use_attribute_docstrings=True)
class SweptRun(TypedDict):
    """A point with one seed."""

    seed: int
    id: str | None
    """Null for a run that waits to be created, could not be, or was deleted since."""
    name: str
    state: Annotated[str | None, JsonOf(StateJson | None)]
    problem: str
    """Why no run could be created; empty otherwise."""
    value: float | None
    """The newest value of the objective; null before the first."""
    num_samples: int
    """Samples that it has trained on."""
    gpu_hours: float


@with_config(use_attribute_docstrings=True)
class RungBody(TypedDict):
    """What a point reported at a rung."""

    num_samples: int
    value: float
    """Mean of the objective over the point's seeds."""
    is_pruned: bool
    reason: str
    """Why it was pruned; empty where it went on."""
    at: IsoTime


@with_config(use_attribute_docstrings=True)
class SweptPoint(TypedDict):
    """One combination of settings."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    state: Annotated[str, JsonOf(PointState)]
    value: float | None
    """Mean of its runs' newest values of the objective; null before the first."""
    least: float | None
    """The least of them: with `greatest` the spread over seeds."""
    greatest: float | None
    num_samples: int
    """Samples that its runs have trained on, the least of them."""
    gpu_hours: float
    rungs: list[RungBody]
    runs: list[SweptRun]


@with_config(use_attribute_docstrings=True)
class BestSoFar(TypedDict):
    """The best point became better, or another one did."""

    at: float
    """Unix time in seconds."""
    gpu_hours: float
    """What the sweep had cost by then."""
    lane_hours: float
    """The same for lanes of any kind, CPU lanes included."""
    value: float
    """Mean of the objective over the point's seeds, after equally many batches."""
    point: int


@with_config(use_attribute_docstrings=True)
class SweepBody(ListedSweep):
    """A sweep in full."""

    plan: Annotated[dict[str, Any], JsonOf(SweepPlan)]
    parent: str | None
    """Id of the run that it was made from."""
    num_invalid_draws: int
    """Random draws that no run could be created from; others were drawn in their place."""
    invalid_draw: str
    """The first of them, with why."""
    lane_hours: float
    """Hours of lanes of any kind that its runs held."""
    points: list[SweptPoint]
    best_so_far: list[BestSoFar]
