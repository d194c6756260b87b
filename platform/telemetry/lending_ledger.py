"""The lending ledger: every decision to let trainer lanes generate, its predicted gain, and its realised one."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Sum
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.models import SpanRow, StreamItem
from telemetry.selectors import last_stream_seq
from worker.contracts.spans import SpanKind

DEFAULT_DECISIONS = 200
MAX_DECISIONS = 2000
_LENT = (SpanKind.LENT_GENERATE.value, SpanKind.SWITCH.value)


@with_config(use_attribute_docstrings=True)
class LendDecision(TypedDict):
    """A decision to let trainer lanes generate: the `lend` event that made it, joined with the one that settled it."""

    decision: int
    """Number of the decision, which a driver counts anew from each checkpoint that it goes back to."""
    attempt: int
    batch: int
    at: float
    """When it was made, in Unix seconds."""
    lanes: list[str]
    num_fragments: int
    """Fragments that each lane may generate."""
    predicted_gain_seconds: float | None
    """By which the open batches were predicted to end sooner; null where nothing was predicted (greedy lending)."""
    settled_at: float | None
    """When the batches then open had ended, in Unix seconds; null before."""
    realised_gain_seconds: float | None
    """By which they ended sooner; null until they ended."""


@with_config(use_attribute_docstrings=True)
class LedgerEntry(LendDecision):
    """A decision in the ledger."""

    num_generated: int
    """Fragments that its lanes generated; fewer than they all might: the loan was cut short."""


@with_config(use_attribute_docstrings=True)
class LoanedWork(TypedDict):
    """What trainer lanes did on loan, over all decisions."""

    lent_seconds: float
    num_lent_fragments: int
    num_lent_samples: int
    switch_seconds: float
    """Lane time of turning over between training and generating."""
    num_switches: int


@with_config(use_attribute_docstrings=True)
class LendingTotals(LoanedWork):
    """Sums and means over all decisions of a run."""

    num_decisions: int
    num_graded: int
    """Decisions with a prediction that are settled; the means are over them."""
    mean_predicted_gain_seconds: float | None
    mean_realised_gain_seconds: float | None


@with_config(use_attribute_docstrings=True)
class Lending(TypedDict):
    decisions: list[LedgerEntry]
    """Newest first."""
    totals: LendingTotals
    stream_seq: int


def lending(run_id: UUID, *, limit: int = DEFAULT_DECISIONS) -> Lending:
    """The newest `limit` decisions, newest first, and totals over all of them, cut at one number.

    Mean gains are over the decisions that have both, so that the two compare;
    they are not summed, for several decisions may hasten the end of one batch.
    """
    up_to = last_stream_seq(run_id)
    decisions = _decisions(run_id, up_to)
    shown = decisions[-limit:][::-1]
    generated = _generated(run_id, up_to, shown)
    graded = [one for one in decisions if None not in (one["predicted_gain_seconds"], one["realised_gain_seconds"])]
    return {
        "decisions": [{**one, "num_generated": number} for one, number in zip(shown, generated, strict=True)],
        "totals": {
            "num_decisions": len(decisions),
            "num_graded": len(graded),
            "mean_predicted_gain_seconds": _mean(one["predicted_gain_seconds"] for one in graded),
            "mean_realised_gain_seconds": _mean(one["realised_gain_seconds"] for one in graded),
            **_work(run_id, up_to),
        },
        "stream_seq": up_to,
    }


def recent_lends(run_id: UUID, *, up_to: int, start: float, end: float) -> list[LendDecision]:
    """The decisions made in a window of time, for the timeline's arrows, oldest first."""
    return [one for one in _decisions(run_id, up_to) if start <= one["at"] <= end][-MAX_DECISIONS:]


def _decisions(run_id: UUID, up_to: int) -> list[LendDecision]:
    """Each decision once: the event that settles it joins the event that made it.

    A driver that goes back to its checkpoint counts its decisions anew; what was open then stays unsettled.
    """
    items = StreamItem.objects.filter(run_id=run_id, type__in=("lend", "resumed"), stream_seq__lte=up_to)
    made: list[LendDecision] = []
    open_ones: dict[tuple[int, int], LendDecision] = {}
    for attempt, kind, at, body in items.order_by("stream_seq").values_list("attempt", "type", "at", "body"):
        if kind == "resumed":
            open_ones.clear()
            continue
        known = open_ones.get((attempt, body["decision"]))
        if known is None:
            known = {
                "decision": body["decision"],
                "attempt": attempt,
                "batch": body["batch"],
                "at": at,
                "lanes": body["lanes"],
                "num_fragments": body["num_fragments"],
                "predicted_gain_seconds": body["predicted_gain_seconds"],
                "settled_at": None,
                "realised_gain_seconds": None,
            }
            made.append(known)
            open_ones[attempt, body["decision"]] = known
        if body["realised_gain_seconds"] is not None:
            known["settled_at"], known["realised_gain_seconds"] = at, body["realised_gain_seconds"]
    return made


def _generated(run_id: UUID, up_to: int, newest_first: Sequence[LendDecision]) -> list[int]:
    """How many fragments each decision's lanes generated on loan: those begun before the lane was sent anew.

    Fewer than the decision allowed: the loan was cut short, by training work or because no fragment was left.
    """
    counts = [0] * len(newest_first)
    if not newest_first:
        return counts
    of_lane: dict[tuple[int, str], list[tuple[float, int]]] = {}
    for index, one in enumerate(newest_first):
        for lane in one["lanes"]:
            of_lane.setdefault((one["attempt"], lane), []).append((one["at"], index))
    rows = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to, kind=SpanKind.LENT_GENERATE.value)
    begun = rows.filter(start__gte=newest_first[-1]["at"]).values_list("attempt", "lane", "start")
    for attempt, lane, start in begun:
        sent = (index for at, index in of_lane.get((attempt, lane), ()) if at <= start)
        for newest in islice(sent, 1):
            counts[newest] += 1
    return counts


def _mean(gains: Iterable[float | None]) -> float | None:
    known = [gain for gain in gains if gain is not None]
    return sum(known) / len(known) if known else None


def _work(run_id: UUID, up_to: int) -> LoanedWork:
    """What trainer lanes did on loan, and what turning them over took."""
    rows = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to, kind__in=_LENT).values("kind")
    sums = rows.annotate(seconds=Sum(F("end") - F("start")), spans=Count("id"), samples=Sum("num_samples")).order_by()
    by_kind = {row["kind"]: dict(row) for row in sums}
    lent: dict[str, Any] = by_kind.get(SpanKind.LENT_GENERATE, {})
    switched: dict[str, Any] = by_kind.get(SpanKind.SWITCH, {})
    return {
        "lent_seconds": lent.get("seconds", 0.0),
        "num_lent_fragments": lent.get("spans", 0),
        "num_lent_samples": lent.get("samples", 0),
        "switch_seconds": switched.get("seconds", 0.0),
        "num_switches": switched.get("spans", 0),
    }
