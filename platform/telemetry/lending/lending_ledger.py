"""Lending within a run: every decision to lend trainer lanes to generation, with its predicted and realised gain."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Sum
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.models import SpanRow, StreamItem
from telemetry.selectors import last_stream_seq
from telemetry.unreadable import readable
from worker.contracts.spans import SpanKind

DEFAULT_DECISIONS = 200
MAX_DECISIONS = 2000
_LENT = (SpanKind.LENT_GENERATE.value, SpanKind.SWITCH.value)


@with_config(use_attribute_docstrings=True)
class LendDecision(TypedDict):
    """A decision to lend trainer lanes: the `lend` event that reported it, joined with the one that reported its
    gain."""

    decision: int
    """Number of the decision. A driver that goes back to a checkpoint numbers its decisions from there again."""
    attempt: int
    batch: int
    at: float
    """Unix time of the decision, in seconds."""
    lanes: list[str]
    num_fragments: int
    """Fragments that each lane may generate."""
    predicted_gain_seconds: float | None
    """Seconds by which the open batches were predicted to end sooner; null without a prediction (greedy)."""
    least_gain_seconds: float | None
    """The policy's threshold at that time: it would not have lent for less. Null without a prediction, and for what an
    older version reported."""
    settled_at: float | None
    """Unix time at which the batches then open had ended, in seconds; null before."""
    realised_gain_seconds: float | None
    """Seconds by which they ended sooner; null until they ended."""


@with_config(use_attribute_docstrings=True)
class LedgerEntry(LendDecision):
    """A decision in the ledger."""

    num_generated: int
    """Fragments that its lanes generated; fewer than allowed if the loan ended early."""


@with_config(use_attribute_docstrings=True)
class LoanedWork(TypedDict):
    """The work of lent trainer lanes, over all decisions."""

    lent_seconds: float
    num_lent_fragments: int
    num_lent_samples: int
    switch_seconds: float
    """Lane time of switching between training and generating, in seconds."""
    num_switches: int


@with_config(use_attribute_docstrings=True)
class LendingTotals(LoanedWork):
    """Sums and means over all decisions of a run."""

    num_decisions: int
    num_graded: int
    """Decisions with both a predicted and a realised gain; the means are over them."""
    mean_predicted_gain_seconds: float | None
    mean_realised_gain_seconds: float | None


@with_config(use_attribute_docstrings=True)
class Lending(TypedDict):
    decisions: list[LedgerEntry]
    """The newest decisions, newest first."""
    totals: LendingTotals
    stream_seq: int


def lending(run_id: UUID, *, limit: int = DEFAULT_DECISIONS) -> Lending:
    """The newest `limit` decisions, newest first, and totals over all of them, read up to one `stream_seq`.

    Mean gains are over the decisions that have both, so that the two are comparable. They are not summed, because
    several decisions may shorten the same batch.
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


@dataclass(slots=True, kw_only=True)
class LaneLend:
    """One trainer lane that one decision lent."""

    run_id: UUID
    attempt: int
    decision: int
    batch: int
    lane: str
    begin: float
    """Unix time of the decision, in seconds."""
    end: float | None = None
    """When its last work on loan ended, or the batches then open where it did none; `None` before."""
    switch_seconds: float = 0.0
    num_samples: int = 0
    predicted_gain_seconds: float | None
    """Of the decision, by each of its lanes, like the next two."""
    least_gain_seconds: float | None
    realised_gain_seconds: float | None


def lane_lends(
    runs: Collection[UUID], *, start: float | None = None, end: float | None = None, num_decisions: int
) -> list[LaneLend]:
    """The lanes lent by the newest `num_decisions` that each of these runs made in a window of time."""
    with_lends = (
        StreamItem.objects.filter(run_id__in=list(runs), type="lend").order_by().values_list("run_id", flat=True)
    )
    found: list[LaneLend] = []
    for run_id in with_lends.distinct():
        up_to = last_stream_seq(run_id)
        made = [
            one
            for one in _decisions(run_id, up_to)
            if (start is None or one["at"] >= start) and (end is None or one["at"] <= end)
        ][-num_decisions:]
        found += _with_work(run_id, up_to, [lend for one in made for lend in _lanes_of(run_id, one)])
    return found


def _lanes_of(run_id: UUID, one: LendDecision) -> list[LaneLend]:
    num_lanes = len(one["lanes"])
    predicted, least = one["predicted_gain_seconds"], one["least_gain_seconds"]
    realised = one["realised_gain_seconds"]
    return [
        LaneLend(
            run_id=run_id,
            attempt=one["attempt"],
            decision=one["decision"],
            batch=one["batch"],
            lane=lane,
            begin=one["at"],
            end=one["settled_at"],
            predicted_gain_seconds=None if predicted is None else predicted / num_lanes,
            least_gain_seconds=None if least is None else least / num_lanes,
            realised_gain_seconds=None if realised is None else realised / num_lanes,
        )
        for lane in one["lanes"]
    ]


def _with_work(run_id: UUID, up_to: int, lent: list[LaneLend]) -> list[LaneLend]:
    """The same with what each lane did until it was lent again."""
    if not lent:
        return lent
    of_lane: dict[tuple[int, str], list[LaneLend]] = {}
    for one in lent:
        of_lane.setdefault((one.attempt, one.lane), []).append(one)
    rows = SpanRow.objects.filter(run_id=run_id, stream_seq__lte=up_to, kind__in=_LENT, start__gte=lent[0].begin)
    columns = ("attempt", "lane", "kind", "start", "end", "num_samples")
    for attempt, lane, kind, start, end, num_samples in rows.order_by("start").values_list(*columns):
        own = of_lane.get((attempt, lane), ())
        place = bisect_right([one.begin for one in own], start)
        if not place:
            continue
        one = own[place - 1]
        one.end, one.num_samples = end, one.num_samples + num_samples
        one.switch_seconds += end - start if kind == SpanKind.SWITCH else 0.0
    return lent


def _decisions(run_id: UUID, up_to: int) -> list[LendDecision]:
    """Each decision once: the event that settles it joins the event that made it.

    A driver that goes back to its checkpoint numbers its decisions from there again; decisions open at that time never
    get a realised gain.
    """
    items = StreamItem.objects.filter(run_id=run_id, type__in=("lend", "resumed"), stream_seq__lte=up_to)
    made: list[LendDecision] = []
    open_ones: dict[tuple[int, int], LendDecision] = {}
    for item in readable(items.order_by("stream_seq")):
        attempt, at, body = item.attempt, item.at, item.body
        if item.type == "resumed":
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
                "least_gain_seconds": body.get("least_gain_seconds"),
                "settled_at": None,
                "realised_gain_seconds": None,
            }
            made.append(known)
            open_ones[attempt, body["decision"]] = known
        if body["realised_gain_seconds"] is not None:
            known["settled_at"], known["realised_gain_seconds"] = at, body["realised_gain_seconds"]
    return made


def _generated(run_id: UUID, up_to: int, newest_first: Sequence[LendDecision]) -> list[int]:
    """How many fragments each decision's lanes generated on loan: those begun before the lane's next loan.

    Fewer than the decision allowed: training work ended the loan, or no fragment was left.
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
    """The work of lent trainer lanes, and the time spent on switching their role."""
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
