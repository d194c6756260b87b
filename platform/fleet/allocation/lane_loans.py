"""Begins and ends loans of lanes between runs, and finds out who lends.

Invariants: a loan begins in the transaction that allocates its lane, and ends in the one that frees it; a project that
does not use its guarantee lends before nobody does, and never more than it does not use.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count
from django.utils import timezone

from accounts.models import Project
from fleet.fair_share import Share
from fleet.models import LaneKind, LaneLoan, LaneUse


@dataclass(frozen=True, slots=True, kw_only=True)
class LoanForecast:
    """What a decision to lend lanes expects of them."""

    reason: str
    seconds_before: float
    """Of a batch, without the lanes."""
    seconds: float
    """Of a batch, with them."""
    stay_seconds: float
    gain_seconds: float
    """Net of switching, over the stay, by all lanes together."""


def lenders(
    project: UUID, number: int, *, num_lanes: int, held: Mapping[UUID, int], shares: Mapping[UUID, Share]
) -> list[UUID | None]:
    """Whose lanes a project borrows that takes `number` more: each a project, or `None` for the pool. Pure.

    First its own guarantee, then what nobody is guaranteed, then the guarantee that is used least.

    Args:
        num_lanes: lanes that there are.
        held: lanes that each project holds, borrowed ones among them.
        shares: by project; one that is not listed is guaranteed nothing.
    """
    holds = Counter(held)
    unused = {other: share.guaranteed - holds[other] for other, share in shares.items()}
    beyond = sum(max(0, count - _guaranteed(shares, other)) for other, count in holds.items())
    unguaranteed = num_lanes - sum(share.guaranteed for share in shares.values()) - beyond
    found: list[UUID | None] = []
    for _ in range(number):
        if unused.get(project, 0) > 0:
            unused[project] -= 1
            found.append(project)
        elif unguaranteed > 0 or max(unused.values(), default=0) <= 0:
            unguaranteed -= 1
            found.append(None)
        else:
            lender = max(unused, key=lambda other: (unused[other], str(other)))
            unused[lender] -= 1
            found.append(lender)
    return found


def _guaranteed(shares: Mapping[UUID, Share], project: UUID) -> int:
    return shares[project].guaranteed if project in shares else 0


def held_with_loans(pool: str, kind: LaneKind) -> dict[UUID, int]:
    """Lanes of the kind in the pool that each project holds now, borrowed ones among them."""
    rows = LaneUse.objects.filter(pool=pool, until=None, lane__kind=kind, project__isnull=False)
    return dict(rows.order_by().values_list("project_id").annotate(Count("pk")))


def begin_loans(
    *,
    run_id: UUID,
    attempt: int,
    names: Sequence[str],
    from_projects: Sequence[UUID | None],
    resize: UUID,
    forecast: LoanForecast,
) -> list[LaneLoan]:
    """Record that the attempt's lanes of these names are lent, each by the project at the same place, or by the
    pool."""
    uses = {use.name_in_run: use for use in _open_uses(run_id, attempt, names)}
    known = Project.objects.in_bulk([project for project in from_projects if project is not None])
    loans = []
    for name, lender in zip(names, from_projects, strict=True):
        use, project = uses[name], known[lender] if lender is not None else None
        if project is not None and project.pk != use.project_id:
            LaneUse.objects.filter(pk=use.pk).update(borrowed_from=project)
        loan = _loan_of(use, project)
        loan.resize, loan.num_lanes, loan.reason = resize, len(names), forecast.reason
        loan.predicted_seconds_before, loan.predicted_seconds = forecast.seconds_before, forecast.seconds
        loan.expected_stay_seconds = forecast.stay_seconds
        loan.predicted_gain_seconds = forecast.gain_seconds / len(names)
        loans.append(loan)
    return LaneLoan.objects.bulk_create(loans)


def _open_uses(run_id: UUID, attempt: int, names: Collection[str]) -> list[LaneUse]:
    return list(LaneUse.objects.filter(run_id=run_id, attempt=attempt, name_in_run__in=names, until=None))


def _loan_of(use: LaneUse, lender: Project | None) -> LaneLoan:
    assert use.run_id is not None and use.attempt is not None, "lanes of tests and previews are not lent"
    return LaneLoan(
        lane_id=use.lane_id,
        label=use.label,
        pool=use.pool,
        gpus=use.gpus,
        run_id=use.run_id,
        attempt=use.attempt,
        name_in_run=use.name_in_run,
        role=use.role,
        project_id=use.project_id,
        lender=lender,
        lender_name="" if lender is None else lender.name,
        since=use.since,
    )


def give_notice(
    *,
    run_id: UUID,
    attempt: int,
    names: Collection[str],
    resize: UUID,
    reason: str,
    bound_seconds: float | None,
    for_run: UUID | None = None,
    owner: Project | None = None,
) -> int:
    """Record that lanes of the attempt are asked back by a resize, for a run of the project `owner` if for any; returns
    their number. For a lane that is not on loan, one that its project is not guaranteed, a loan is recorded from the
    beginning of its use."""
    now = timezone.now()
    open_loans = LaneLoan.objects.filter(run_id=run_id, attempt=attempt, name_in_run__in=names, until=None)
    lent = set(open_loans.values_list("name_in_run", flat=True))
    for use in _open_uses(run_id, attempt, set(names) - lent):
        loan = _loan_of(use, owner)
        loan.joined_at, loan.reason = use.since, "the run held more lanes than its project is guaranteed"
        loan.save()
    return open_loans.update(
        notice_at=now, notice=resize, for_run_id=for_run, end_reason=reason, bound_seconds=bound_seconds
    )


def withdraw_notice(resize: UUID, names: Collection[str]) -> int:
    """Record that these lanes, which the resize asked back, stay, because the driver refused; they may be asked for
    again."""
    loans = LaneLoan.objects.filter(notice=resize, name_in_run__in=names, until=None)
    return loans.update(notice_at=None, notice=None, for_run_id=None, end_reason="", bound_seconds=None)


def record_joined(*, run_id: UUID, attempt: int, names: Collection[str]) -> None:
    """Record that borrowed lanes work for their borrower."""
    loans = LaneLoan.objects.filter(run_id=run_id, attempt=attempt, name_in_run__in=names, joined_at=None)
    loans.update(joined_at=timezone.now())


def record_dropped(*, run_id: UUID, attempt: int, dropped: Mapping[str, int]) -> None:
    """Record how many fragments each lane dropped at its bound."""
    for name, number in dropped.items():
        LaneLoan.objects.filter(run_id=run_id, attempt=attempt, name_in_run=name).update(num_dropped=number)


def end_loans(lanes: Collection[int]) -> None:
    """End the open loans of lanes that are free now, by key."""
    ended = LaneLoan.objects.filter(lane__in=lanes, until=None)
    ended.filter(notice_at=None).update(until=timezone.now(), end_reason="the borrower let it go")
    ended.update(until=timezone.now())


def open_loans(pool: str | None = None) -> list[LaneLoan]:
    """The loans of now in a pool, or in all, the newest first."""
    loans = LaneLoan.objects.filter(until=None).select_related("lane", "project")
    return list(loans if pool is None else loans.filter(pool=pool))


def lent_names(run_id: UUID, attempt: int) -> set[str]:
    """Names of the attempt's lanes that are on loan."""
    loans = LaneLoan.objects.filter(run_id=run_id, attempt=attempt, until=None)
    return set(loans.values_list("name_in_run", flat=True))


def recent_returns(pool: str, since: datetime) -> tuple[float, int]:
    """(Seconds lent, loans that were asked back) of the loans in the pool that ended since then."""
    ended = LaneLoan.objects.filter(pool=pool, until__gte=since, resize__isnull=False)
    times = ended.values_list("since", "until")
    seconds = sum(((until - begin).total_seconds() for begin, until in times if until is not None), 0.0)
    return seconds, ended.filter(notice_at__isnull=False).count()


def mean_join_seconds(run_id: UUID) -> float | None:
    """Mean seconds from a grant until the lane worked, over the run's earlier loans; `None` where there was none."""
    joined = LaneLoan.objects.filter(run_id=run_id, joined_at__isnull=False, resize__isnull=False)
    each = [(at - since).total_seconds() for at, since in joined.values_list("joined_at", "since") if at is not None]
    return sum(each) / len(each) if each else None
