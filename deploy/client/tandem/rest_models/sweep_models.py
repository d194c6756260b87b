"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from tandem.rest_models.run_models import (
    RunProject,
)
from tandem.tolerant_model import Model


class BestPoint(Model):
    """The point with the best value of the objective now."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    value: float
    """Mean of its runs' newest values."""
    run: str
    """Id of the best of its runs."""


class BestSoFar(Model):
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


class Rung(Model):
    """What a point reported at a rung."""

    num_samples: int
    value: float
    """Mean of the objective over the point's seeds."""
    is_pruned: bool
    reason: str
    """Why it was pruned; empty where it went on."""
    at: AwareDatetime


class Plan(Model):
    """The plan with every field written out."""


class SweepPreview(Model):
    """What a sweep would run."""

    plan: Plan
    """The plan with every field written out."""
    points: list[dict[str, Any]]
    """The settings of each point."""
    num_runs: int
    """Of all points with all seeds."""
    num_samples: int
    """Samples of all runs, if none is pruned."""
    num_invalid_draws: int
    invalid_draw: str
    """The first invalid draw, with why; empty for none."""
    rungs: list[int]
    """Samples at which the points with most samples are judged."""


class SweptRun(Model):
    """A point with one seed."""

    seed: int
    id: str | None
    """Null for a run that waits to be created, could not be, or was deleted since."""
    name: str
    state: (
        Literal[
            "queued",
            "starting",
            "running",
            "paused",
            "stopping",
            "completed",
            "stopped",
            "cancelled",
            "failed",
        ]
        | str
        | None
    )
    problem: str
    """Why no run could be created; empty otherwise."""
    value: float | None
    """The newest value of the objective; null before the first."""
    num_samples: int
    """Samples that it has trained on."""
    gpu_hours: float


class ListedSweep(Model):
    """A line of the list of sweeps, as one reader may see it."""

    num_points: int
    num_runs: int
    num_runs_ended: int
    num_runs_live: int
    id: str
    operation: str
    """Its operation: `GET /operations/{id}`."""
    name: str
    project: RunProject
    created_by: str | None
    """Name of the user; null for an account that was deleted."""
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    state: Literal["running", "stopping", "stopped", "completed"] | str
    reason: str
    """Why it starts no more runs; empty while it does, and for one that ended by itself."""
    num_pruned: int
    best: BestPoint | None
    """Null before the first value."""
    gpu_hours: float
    """Of the lanes that its runs held; CPU lanes cost none."""
    budget_gpu_hours: float | None


class SweptPoint(Model):
    """One combination of settings."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    state: Literal["waiting", "running", "pruned", "completed", "failed"] | str
    value: float | None
    """Mean of its runs' newest values of the objective; null before the first."""
    least: float | None
    """The least of them: with `greatest` the spread over seeds."""
    greatest: float | None
    num_samples: int
    """Samples that its runs have trained on, the least of them."""
    gpu_hours: float
    rungs: list[Rung]
    runs: list[SweptRun]


class Sweep(Model):
    """A sweep in full."""

    num_points: int
    num_runs: int
    num_runs_ended: int
    num_runs_live: int
    id: str
    operation: str
    name: str
    project: RunProject
    created_by: str | None
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    state: Literal["running", "stopping", "stopped", "completed"] | str
    reason: str
    num_pruned: int
    best: BestPoint | None
    gpu_hours: float
    budget_gpu_hours: float | None
    plan: dict[str, Any]
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
