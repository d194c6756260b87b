"""The story of one fragment of a training batch: its prompt, its members, what became of its group, and where and when
each part of its work ran.

Generation, decoding and scoring are recorded by fragment. Training is recorded by group where all micro-batches of a
call are of one, else by batch: a rank trains on micro-batches of several groups in one call.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, F, FloatField, Max, Min, Q, QuerySet, Sum
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.models import SpanRow
from telemetry.prompts.batch_groups import GroupOfBatch, groups_of_batch
from worker.contracts.prompts import parse_prompts
from worker.contracts.spans import SpanKind

_GENERATING = (SpanKind.GENERATE, SpanKind.LENT_GENERATE)


@with_config(use_attribute_docstrings=True)
class FragmentStep(TypedDict):
    """What one lane did of one kind of work; several spans of it are one step. Times are Unix seconds."""

    kind: SpanKind
    lane: str
    start: float
    end: float
    busy_seconds: float
    """Time in the spans; less than from start to end where the lane did other work between."""
    num_spans: int
    is_of_fragment: bool
    """Whether the work was on this fragment alone; false for training, which is recorded by group or batch."""


@with_config(use_attribute_docstrings=True)
class FragmentStory(TypedDict):
    """One fragment of a training batch, from noise to gradient."""

    batch: int
    """Index of the batch, from 0, as spans count."""
    group: int
    fragment: int
    attempt: int
    members: list[int]
    """Indices of its trajectories within the group."""
    policy_version: int | None
    prompt_index: int | None
    """Null until the batch's groups are complete."""
    prompt: str
    outcome: GroupOfBatch | None
    """What became of the fragment's whole group; null until the batch's groups are complete."""
    steps: list[FragmentStep]
    """In the order in which they began."""


def fragment_story(
    run_id: UUID, prompts: Sequence[Any], *, batch: int, group: int, fragment: int
) -> FragmentStory | None:
    """The story as the newest attempt that generated the fragment wrote it; null where none has.

    Args:
        run_id: the run's.
        prompts: the run's, as stored, which `prompt_index` counts.
        batch: index of the batch, from 0.
        group: index of the group in the batch.
        fragment: index of the fragment in the group.
    """
    in_batch = SpanRow.objects.filter(run_id=run_id, batch=batch)
    own = in_batch.filter(group=group, fragment=fragment)
    generated = own.filter(kind__in=_GENERATING).order_by("attempt", "end").last()
    if generated is None:
        return None
    of_attempt = in_batch.filter(attempt=generated.attempt)
    groups = groups_of_batch(run_id, batch + 1)
    outcome = groups[group] if group < len(groups) else None
    size = generated.num_samples
    prompt_index = outcome["prompt_index"] if outcome and outcome["prompt_index"] < len(prompts) else None
    return {
        "batch": batch,
        "group": group,
        "fragment": fragment,
        "attempt": generated.attempt,
        "members": list(range(fragment * size, (fragment + 1) * size)),
        "policy_version": generated.policy_version,
        "prompt_index": prompt_index,
        "prompt": "" if prompt_index is None else parse_prompts(prompts[prompt_index : prompt_index + 1])[0].text,
        "outcome": outcome,
        "steps": _steps(of_attempt, generated),
    }


def _steps(in_batch: QuerySet[SpanRow], generated: SpanRow) -> list[FragmentStep]:
    """`generated`: the span that generated the fragment as it was trained on."""
    own = in_batch.filter(group=generated.group, fragment=generated.fragment)
    made = own.filter(kind__in=(*_GENERATING, SpanKind.DECODE))
    # A held-out fragment may have the same numbers: scores of this one come after it was generated.
    scored = own.filter(kind=SpanKind.SCORE, start__gte=generated.end).order_by("start")[:1]
    trained = in_batch.filter(Q(group=generated.group) | Q(group=None), kind=SpanKind.TRAIN)
    parts = [*_summed(made, True), *_summed(own.filter(pk__in=scored.values("pk")), True), *_summed(trained, False)]
    return sorted(parts, key=lambda step: step["start"])


def _summed(rows: QuerySet[SpanRow], is_of_fragment: bool) -> list[FragmentStep]:
    seconds = Sum(F("end") - F("start"), output_field=FloatField())
    summed = (
        rows.order_by()
        .values("kind", "lane")
        .annotate(first=Min("start"), last=Max("end"), seconds=seconds, spans=Count("id"))
    )
    return [
        {
            "kind": SpanKind(row["kind"]),
            "lane": row["lane"],
            "start": row["first"],
            "end": row["last"],
            "busy_seconds": row["seconds"],
            "num_spans": row["spans"],
            "is_of_fragment": is_of_fragment,
        }
        for row in summed
    ]
