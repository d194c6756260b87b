"""Which prompts of a run teach little: never varying, drawn again, without scores, or never drawn at all.

A group whose rewards are all equal has no advantage that differs from 0, so its prompt costs a group's generation and
teaches nothing; discarding such groups starves the prompts that need attention most. Callers check permission.
"""

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Avg, Count, F, FloatField, Max, Q, QuerySet, Sum, Window
from django.db.models.functions import Cast, RowNumber
from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import VALUES
from telemetry.models import GroupOutcomeRow
from worker.contracts.prompts import parse_prompts

MAX_VISITS_SHOWN = 60
"""The newest visits of a prompt that are listed: a pixel or two each in the column that draws them."""


class PromptOrder(StrEnum):
    """What comes first. Prompts that are equal in it come in their own order."""

    WITHOUT_SPREAD = "without_spread"
    REPEATED = "repeated"
    MISSING = "missing"
    LOWEST_REWARD = "lowest_reward"
    PROMPT = "prompt"


@with_config(use_attribute_docstrings=True)
class PromptVisit(TypedDict):
    """One group of a prompt."""

    batch: int
    mean_reward: float | None
    reward_std: float
    has_spread: bool


@with_config(use_attribute_docstrings=True)
class PromptAudit(TypedDict):
    """What became of the groups of one prompt."""

    prompt_index: int
    text: str
    num_groups: int
    """Groups that were drawn of it and are complete."""
    num_without_spread: int
    """Groups whose rewards are all equal, by their last draw."""
    num_dropped_draws: int
    """Draws that were dropped for want of spread (`batch.max_resamples`)."""
    num_missing: int
    """Samples that lack a trained reward."""
    num_repeated_fragments: int
    """Fragments that were generated once more, because their lane was lost."""
    mean_reward: float | None
    """Mean over its groups; null where no sample has a reward."""
    last_batch: int
    visits: list[PromptVisit]
    """The newest groups, in the order of their batches."""


@with_config(use_attribute_docstrings=True)
class PromptTotals(TypedDict):
    """The same over all prompts of a run."""

    num_prompts: int
    """Prompts of the run."""
    num_never_drawn: int
    """Prompts of which no group is complete yet."""
    num_never_varying: int
    """Prompts with groups, all of them without spread: they have taught nothing."""
    num_groups: int
    num_without_spread: int
    num_dropped_draws: int
    num_missing: int
    num_repeated_fragments: int


@with_config(use_attribute_docstrings=True)
class PromptAuditPage(TypedDict):
    """Some prompts, and the sums over all."""

    totals: PromptTotals
    results: list[PromptAudit]
    next_offset: int | None
    """Where the next page begins; null at the end."""


_SUMS = {
    "groups": Count("id"),
    "flat": Count("id", filter=Q(has_spread=False)),
    "dropped": Sum("num_dropped_draws"),
    "missing": Sum("num_missing"),
    "repeated": Sum("num_repeated_fragments"),
}
"""Named apart from the columns, which aggregates of the same names would hide."""
_FLAT_SHARE = Cast(F("flat"), FloatField()) / F("groups")
_ORDERS: dict[PromptOrder, tuple[Any, ...]] = {
    PromptOrder.WITHOUT_SPREAD: (_FLAT_SHARE.desc(), F("flat").desc()),
    PromptOrder.REPEATED: ((F("dropped") + F("repeated")).desc(),),
    PromptOrder.MISSING: (F("missing").desc(),),
    PromptOrder.LOWEST_REWARD: (F("average").asc(nulls_last=True),),
    PromptOrder.PROMPT: (),
}


def prompt_audit(
    run_id: UUID, prompts: Sequence[Any], *, order: PromptOrder, offset: int, limit: int
) -> PromptAuditPage:
    """A page of the prompts that were drawn, and the totals.

    Args:
        run_id: the run's.
        prompts: the run's, as stored, which `prompt_index` counts.
        order: what comes first.
        offset: prompts to leave out at the beginning.
        limit: the most prompts of the page.
    """
    rows = GroupOutcomeRow.objects.filter(run_id=run_id, prompt_index__lt=len(prompts), reward_std__range=VALUES)
    # The types of the ORM do not know columns that are named in a dictionary.
    drawn: Any = rows.values("prompt_index").annotate(**_SUMS, average=Avg("mean_reward"), last=Max("batch"))
    ordered = drawn.order_by(*_ORDERS[order], "prompt_index")
    page = list(ordered[offset : offset + limit + 1])
    visits = _visits(rows.filter(prompt_index__in=[row["prompt_index"] for row in page[:limit]]))
    return {
        "totals": _totals(drawn, len(prompts)),
        "results": [_audit(row, prompts, visits[row["prompt_index"]]) for row in page[:limit]],
        "next_offset": offset + limit if len(page) > limit else None,
    }


def _totals(drawn: QuerySet[Any, dict[str, Any]], num_prompts: int) -> PromptTotals:
    """`drawn`: the sums of each prompt that was drawn."""
    num_drawn = num_flat_prompts = 0
    sums = dict.fromkeys(_SUMS, 0)
    for row in drawn.values(*_SUMS).iterator():
        num_drawn += 1
        num_flat_prompts += row["flat"] == row["groups"]
        for name in sums:
            sums[name] += row[name]
    return {
        "num_prompts": num_prompts,
        "num_never_drawn": max(0, num_prompts - num_drawn),
        "num_never_varying": num_flat_prompts,
        "num_groups": sums["groups"],
        "num_without_spread": sums["flat"],
        "num_dropped_draws": sums["dropped"],
        "num_missing": sums["missing"],
        "num_repeated_fragments": sums["repeated"],
    }


def _audit(row: dict[str, Any], prompts: Sequence[Any], visits: list[PromptVisit]) -> PromptAudit:
    index = row["prompt_index"]
    return {
        "prompt_index": index,
        "text": parse_prompts(prompts[index : index + 1])[0].text,
        "num_groups": row["groups"],
        "num_without_spread": row["flat"],
        "num_dropped_draws": row["dropped"],
        "num_missing": row["missing"],
        "num_repeated_fragments": row["repeated"],
        "mean_reward": row["average"],
        "last_batch": row["last"],
        "visits": visits,
    }


def _visits(rows: QuerySet[GroupOutcomeRow]) -> dict[int, list[PromptVisit]]:
    """The newest visits of each prompt in `rows`, ascending."""
    place = Window(RowNumber(), partition_by=F("prompt_index"), order_by=F("batch").desc())
    found: dict[int, list[PromptVisit]] = defaultdict(list)
    newest = rows.annotate(place=place).filter(place__lte=MAX_VISITS_SHOWN).order_by("batch")
    for row in newest.only("prompt_index", *PromptVisit.__annotations__):
        visit: PromptVisit = {
            "batch": row.batch,
            "mean_reward": row.mean_reward,
            "reward_std": row.reward_std,
            "has_spread": row.has_spread,
        }
        found[row.prompt_index].append(visit)
    return found
