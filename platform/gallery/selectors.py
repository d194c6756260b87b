"""Reads of the gallery. Callers get the run from `runs.selectors` first, which checks permission."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Max, QuerySet

from gallery.models import Adapter, Preview, Sample
from telemetry.unreadable import count_unreadable


def sample_batches(run_id: UUID, purpose: str = "") -> list[int]:
    """Batches that have pictures, ascending."""
    rows = _samples(run_id, purpose)
    return list(rows.order_by("batch").values_list("batch", flat=True).distinct())


def samples(run_id: UUID, *, purpose: str = "", batches: Collection[int] = ()) -> list[Sample]:
    """Samples by batch, prompt and member; of a batch that two attempts generated, those of the newer attempt."""
    rows = _samples(run_id, purpose)
    if batches:
        rows = rows.filter(batch__in=batches)
    drawn = rows.order_by().values("purpose", "batch").annotate(attempt=Max("attempt"))
    newest = {(row["purpose"], row["batch"]): row["attempt"] for row in drawn}
    ordered = rows.order_by("batch", "purpose", "prompt_index", "member", "stream_seq")
    found = [sample for sample in ordered if sample.attempt == newest[sample.purpose, sample.batch]]
    readable = [sample for sample in found if sample.is_readable]
    if len(readable) < len(found):
        count_unreadable("sample", len(found) - len(readable))
    return readable


def samples_of_members(run_id: UUID, *, batch: int, prompt_index: int | None, members: Collection[int]) -> list[Sample]:
    """The samples of a training batch that are of these members of a prompt; none where the prompt is not known."""
    return [
        sample
        for sample in samples(run_id, purpose="train", batches=[batch])
        if sample.prompt_index == prompt_index and sample.member in members
    ]


def adapters(run_id: UUID) -> QuerySet[Adapter]:
    """Newest first, with their run."""
    rows = Adapter.objects.filter(run_id=run_id)
    if unreadable := [row.pk for row in rows.only("files", "at") if not row.is_readable]:
        count_unreadable("adapter", len(unreadable))
    return rows.exclude(pk__in=unreadable).select_related("run").order_by("-stream_seq")


def previews(run_id: UUID) -> QuerySet[Preview]:
    """Newest first, with their pictures."""
    return Preview.objects.filter(run_id=run_id).prefetch_related("images").select_related("adapter")


def _samples(run_id: UUID, purpose: str) -> QuerySet[Sample]:
    rows = Sample.objects.filter(run_id=run_id)
    return rows.filter(purpose=purpose) if purpose else rows
