"""What loans between runs brought, from the spans and the published versions of their borrowers.

    spans of (run, attempt, lane)     ─► samples
    idle time with cause `resize`     ─► switching
    times of published versions       ─► seconds of whole batches with and without borrowed lanes ─► gain

A lane's name is its own within an attempt, so all spans of it are the loan's. Invariant: nothing is estimated; where a
figure has nothing to rest on it is `None`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from uuid import UUID

from django.db.models import Q, Sum
from django.utils import timezone

from fleet.models import LaneLoan
from runs.models import CLOCK
from telemetry.models import LaneTime, SpanRow, StreamItem
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause, SpanKind

MAX_COMPARED = 20
"""Batches without borrowed lanes that a loan is compared with, at most: those nearest to its begin."""
_WORK = {LaneRole.ROLLOUT.value: SpanKind.GENERATE.value, LaneRole.REWARD.value: SpanKind.SCORE.value}

Key = tuple[UUID, int, str]
"""Run, attempt, lane."""
Window = tuple[float, float]
"""Begin and end, in Unix seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoanMeasures:
    """What one loan brought so far; see `telemetry.lending.lend_rows` for the figures."""

    switch_seconds: float | None = None
    num_samples: int | None = None
    realised_gain_seconds: float | None = None
    batch_seconds: float | None = None
    batch_seconds_before: float | None = None


def measures(loans: Sequence[LaneLoan]) -> dict[UUID, LoanMeasures]:
    """By loan."""
    if not loans:
        return {}
    samples, leaving = _samples(loans), _leaving_seconds(loans)
    batches = _batches({loan.run_id for loan in loans})
    windows = _working_windows({loan.run_id for loan in loans})
    return {loan.pk: _measures(loan, samples, leaving, batches, windows) for loan in loans}


def _measures(
    loan: LaneLoan,
    samples: Mapping[Key, Mapping[str, int]],
    leaving: Mapping[Key, float],
    batches: Mapping[tuple[UUID, int], Sequence[Window]],
    windows: Mapping[tuple[UUID, int], Sequence[Window]],
) -> LoanMeasures:
    key, attempt = (loan.run_id, loan.attempt, loan.name_in_run), (loan.run_id, loan.attempt)
    if loan.resize is None:
        # The run began with the lane, so there is neither a join nor a time without it.
        return LoanMeasures(switch_seconds=leaving.get(key))
    joining = (loan.joined_at or loan.until or timezone.now()) - loan.since
    switch = joining.total_seconds() + leaving.get(key, 0.0)
    num_samples = samples.get(key, {}).get(_WORK.get(loan.role, ""), 0) if loan.joined_at is not None else None
    own = _working(loan)
    of_attempt = batches.get(attempt, ())
    during = [] if own is None else [batch for batch in of_attempt if own[0] <= batch[0] and batch[1] <= own[1]]
    without = [batch for batch in of_attempt if not any(_overlap(batch, other) for other in windows.get(attempt, ()))]
    before = _typical(_nearest(without, loan.since.timestamp()))
    with_it = _typical(during)
    gain = None
    if before is not None and with_it is not None:
        shared = sum(sum(_overlap(batch, other) for other in windows[attempt]) for batch in during) / len(during)
        gain = len(during) * (before - with_it) / shared - switch
    return LoanMeasures(
        switch_seconds=switch,
        num_samples=num_samples,
        realised_gain_seconds=gain,
        batch_seconds=with_it,
        batch_seconds_before=before,
    )


def _working(loan: LaneLoan) -> Window | None:
    """When the lane worked for its borrower; `None` before."""
    if loan.joined_at is None:
        return None
    return loan.joined_at.timestamp(), (loan.notice_at or loan.until or timezone.now()).timestamp()


def _overlap(one: Window, other: Window) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _nearest(batches: Sequence[Window], at: float) -> Sequence[Window]:
    """Those that ended last before a time; where there are none, the first after it."""
    place = bisect_left([end for _, end in batches], at)
    return batches[max(0, place - MAX_COMPARED) : place] or batches[place : place + MAX_COMPARED]


def _typical(batches: Sequence[Window]) -> float | None:
    """The median seconds: an evaluation or a pause in one batch says nothing about the others."""
    return median(end - begin for begin, end in batches) if batches else None


def _batches(runs: Iterable[UUID]) -> dict[tuple[UUID, int], list[Window]]:
    """The batches of each attempt, oldest first. An attempt's first is left out: it includes warm-up."""
    items = StreamItem.objects.filter(run_id__in=list(runs), type="publish", at__range=CLOCK).order_by("stream_seq")
    published: dict[tuple[UUID, int], list[float]] = {}
    for run_id, attempt, at in items.values_list("run_id", "attempt", "at"):
        published.setdefault((run_id, attempt), []).append(at)
    return {key: list(pairwise(times[1:])) for key, times in published.items()}


def _working_windows(runs: Iterable[UUID]) -> dict[tuple[UUID, int], list[Window]]:
    """When each attempt had lanes on loan, one entry a lane."""
    found: dict[tuple[UUID, int], list[Window]] = {}
    for loan in LaneLoan.objects.filter(run_id__in=list(runs), resize__isnull=False):
        window = _working(loan)
        if window is not None:
            until = (loan.until or timezone.now()).timestamp()
            found.setdefault((loan.run_id, loan.attempt), []).append((window[0], max(window[1], until)))
    return found


def _samples(loans: Sequence[LaneLoan]) -> dict[Key, dict[str, int]]:
    """Samples by lane and kind of work."""
    rows = SpanRow.objects.filter(_of(loans), kind__in=_WORK.values()).values("run_id", "attempt", "lane", "kind")
    found: dict[Key, dict[str, int]] = {}
    for row in rows.annotate(samples=Sum("num_samples")).order_by():
        found.setdefault((row["run_id"], row["attempt"], row["lane"]), {})[row["kind"]] = row["samples"]
    return found


def _leaving_seconds(loans: Sequence[LaneLoan]) -> dict[Key, float]:
    """What lanes idled because they left: a dropped fragment is in it."""
    rows = LaneTime.objects.filter(_of(loans), kind=SpanKind.IDLE, cause=IdleCause.RESIZE)
    return {(row.run_id, row.attempt, row.lane): row.seconds for row in rows}


def _of(loans: Sequence[LaneLoan]) -> Q:
    """The rows of the lanes that were lent."""
    by_attempt: dict[tuple[UUID, int], list[str]] = {}
    for loan in loans:
        by_attempt.setdefault((loan.run_id, loan.attempt), []).append(loan.name_in_run)
    found = Q(pk__in=[])
    for (run_id, attempt), lanes in by_attempt.items():
        found |= Q(run_id=run_id, attempt=attempt, lane__in=lanes)
    return found
