"""The plans of a run, each graded by what was measured while the run worked by it.

    plan_steps + points of `speed/batch_seconds` ──► mean of the batches under each plan ──► measured ÷ predicted − 1

Invariant: a plan is graded by its own batches alone, without its first, which fills the pipeline.
"""

from collections.abc import Sequence
from itertools import pairwise
from uuid import UUID

from django.db.models import Avg, Q
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import CLOCK, VALUES
from runs.planning.plan_body import PlanStep, RevisedPlan
from telemetry.models import MetricPoint
from worker.contracts.metric_names import Metric


@with_config(use_attribute_docstrings=True)
class GradedPlanStep(PlanStep):
    """One of the plans that a run has worked by, and what came of it."""

    measured_seconds: float | None
    """Mean seconds of the batches under the plan, its first left out; null before there is one."""
    relative_error: float | None
    """Measured ÷ predicted seconds of a batch − 1: above 0 where batches took longer than predicted."""


@with_config(use_attribute_docstrings=True)
class RunPlan(TypedDict):
    plan: RevisedPlan | None
    """The plan; null where the user chose placement, and before lanes were given."""
    steps: list[GradedPlanStep]
    """All plans of the run, the oldest first."""


def graded(run_id: UUID, steps: Sequence[PlanStep]) -> list[GradedPlanStep]:
    """The plans of the run, the oldest first, with what was measured under each."""
    means = _measured_seconds(run_id, [step["since_batch"] for step in steps])
    return [_graded(step, measured) for step, measured in zip(steps, means, strict=True)]


def _graded(step: PlanStep, measured: float | None) -> GradedPlanStep:
    error = None if measured is None else measured / step["batch_seconds"] - 1
    return {**step, "measured_seconds": measured, "relative_error": error}


def _measured_seconds(run_id: UUID, since: Sequence[int]) -> list[float | None]:
    """Of each plan, which takes effect after so many batches, the mean seconds of its batches but the first."""
    if not since:
        return []
    spans = [Q(batch__gt=first + 1, batch__lte=last) for first, last in pairwise(since)]
    spans.append(Q(batch__gt=since[-1] + 1))
    points = MetricPoint.objects.filter(run_id=run_id, key=Metric.BATCH_SECONDS, at__range=CLOCK, value__range=VALUES)
    means = points.aggregate(**{f"plan_{place}": Avg("value", filter=span) for place, span in enumerate(spans)})
    return [means[f"plan_{place}"] for place in range(len(spans))]
