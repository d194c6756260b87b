"""Reads of a run's mirrors. Callers get the run from `runs.selectors` first, which checks permission."""

from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts.access import Actor
from catalog.models import Mirror
from catalog.selectors import visible_mirrors
from mirrors.models import MirroredRun, MirroringState


def mirrors_with_counts(user: Actor) -> QuerySet[Mirror]:
    """The mirrors of the user's projects, with `num_runs`, and `num_failing` of them: tried again, or given up."""
    is_failing = ~Q(mirrored__error="") & ~Q(mirrored__state=MirroringState.DONE)
    return visible_mirrors(user).annotate(
        num_runs=Count("mirrored"), num_failing=Count("mirrored", filter=is_failing & Q(mirrored__isnull=False))
    )


def mirrored_of(run_id: UUID) -> QuerySet[MirroredRun]:
    """By the mirrors' names."""
    rows = MirroredRun.objects.filter(run_id=run_id).select_related("mirror__project", "run")
    return rows.order_by("mirror__name").defer("mirror__encrypted", "run__prompts", "run__spec")
