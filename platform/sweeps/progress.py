"""How far a sweep is: its points with the runs of their seeds, as the dispatcher and the page read them.

Invariant: nothing of it is stored; where a point stands follows from its runs and its reports.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from django.db.models import Prefetch

from runs.models import Run, RungReport, Sweep, SweepPoint, SweepRun
from worker.contracts.states import RunState

_READ = ("id", "name", "state", "num_batches", "num_batches_done", "algebra", "ended_at")
"""What of a run is read: its spec is some kilobytes."""


class PointState(StrEnum):
    WAITING = "waiting"
    """None of its runs was created yet."""
    RUNNING = "running"
    PRUNED = "pruned"
    COMPLETED = "completed"
    """All its runs have ended, one at least at its end."""
    FAILED = "failed"
    """All its runs have ended, none at its end."""


@dataclass(frozen=True)
class Place:
    """One seed of a point."""

    row: SweepRun

    @property
    def run(self) -> Run | None:
        return self.row.run

    @property
    def is_waiting(self) -> bool:
        return self.row.filled_at is None

    @property
    def is_live(self) -> bool:
        return self.run is not None and not self.run.has_ended


@dataclass(frozen=True)
class Point:
    row: SweepPoint
    places: Sequence[Place]
    reports: Sequence[RungReport]

    @property
    def number(self) -> int:
        return self.row.number

    @property
    def pruned(self) -> RungReport | None:
        """The report at which it was pruned."""
        return next((report for report in self.reports if report.is_pruned), None)

    @property
    def runs(self) -> list[Run]:
        """Those that exist."""
        return [place.run for place in self.places if place.run is not None]

    @property
    def state(self) -> PointState:
        if self.pruned is not None:
            return PointState.PRUNED
        if all(place.is_waiting for place in self.places):
            return PointState.WAITING
        if any(place.is_waiting or place.is_live for place in self.places):
            return PointState.RUNNING
        is_done = any(run.run_state is RunState.COMPLETED for run in self.runs)
        return PointState.COMPLETED if is_done else PointState.FAILED

    @cached_property
    def num_samples_per_batch(self) -> int:
        """Samples of a batch of any of its runs; 0 while there is none."""
        return next((run.batch_algebra.num_trajectories for run in self.runs), 0)

    @property
    def num_samples(self) -> int:
        """Samples that a run of it trains on, from the beginning to the end; 0 while there is none."""
        return next((run.num_batches * self.num_samples_per_batch for run in self.runs), 0)


def points_of(sweep: Sweep) -> list[Point]:
    """All points in their order, in three queries."""
    fields = [f"run__{field}" for field in _READ]
    places = SweepRun.objects.select_related("run").only(*_own_fields(SweepRun), *fields).order_by("seed")
    rows = sweep.points.order_by("number").prefetch_related(
        Prefetch("places", queryset=places), Prefetch("reports", queryset=RungReport.objects.order_by("pk"))
    )
    return [Point(row, [Place(place) for place in row.places.all()], list(row.reports.all())) for row in rows]


def _own_fields(model: Any) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]
