"""The ledger of lending, within runs and between runs, in rows of one shape.

    `LaneLoan` + `loan_measures` ─┐
                                  ├─► filters, visibility ─► newest first, page by page ─► `lend_sums`
    `lend` events of live runs  ──┘

Members see the lends that their projects take part in, pool admins all; a run of another project has no name.
Invariant: a row is the same wherever it is shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.access import Actor, is_pool_admin, visible_projects
from fleet.models import LaneLoan, LaneUse
from runs.models import Run
from runs.pool.pool_view import SOMEBODY_ELSES
from telemetry.lending.lend_rows import Lend, LenderKind, LendKind
from telemetry.lending.lending_ledger import LaneLend, lane_lends
from telemetry.lending.loan_measures import LoanMeasures, measures
from worker.contracts.names import LaneRole

UUID_CHARS = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class LendsWanted:
    """Which lends to read; what is empty filters nothing."""

    since: datetime | None = None
    """Those that ended later, or have not ended."""
    until: datetime | None = None
    """Those that began before."""
    kind: LendKind | None = None
    run: UUID | None = None
    """Those that this run borrowed."""
    project: UUID | None = None
    """Those that this project lent or borrowed."""
    lane: str = ""
    """Label of a lane, or name of a GPU."""
    before: tuple[datetime, str] | None = None
    """Those that come behind the lend with this begin and id."""


def lends(user: Actor, wanted: LendsWanted, *, limit: int) -> list[Lend]:
    """The newest `limit` lends, newest first."""
    seen = _Seen(user)
    rows: list[Lend] = []
    if wanted.kind is not LendKind.WITHIN_RUN:
        found = list(_loans(seen, wanted)[:limit])
        known = measures(found)
        names = seen.run_names({loan.run_id for loan in found} | {loan.for_run_id for loan in found if loan.for_run_id})
        rows += [_of_loan(loan, known[loan.pk], names, seen) for loan in found]
    if wanted.kind is not LendKind.BETWEEN_RUNS:
        rows += _within_runs(seen, wanted, limit)
    rows = [row for row in rows if wanted.before is None or _place(row) < _place_of(wanted.before)]
    return sorted(rows, key=_place, reverse=True)[:limit]


def _place(row: Lend) -> tuple[float, str]:
    return datetime.fromisoformat(row["begin"]).timestamp(), row["id"]


def _place_of(cursor: tuple[datetime, str]) -> tuple[float, str]:
    return cursor[0].timestamp(), cursor[1]


class _Seen:
    """What the user may see."""

    def __init__(self, user: Actor) -> None:
        self.is_admin = is_pool_admin(user)
        self.projects: set[UUID] = set(visible_projects(user).values_list("pk", flat=True))

    def loans(self) -> QuerySet[LaneLoan]:
        every = LaneLoan.objects.select_related("lender")
        if self.is_admin:
            return every
        return every.filter(Q(project__in=self.projects) | Q(lender__in=self.projects))

    def runs(self) -> QuerySet[Run]:
        return Run.objects.all() if self.is_admin else Run.objects.filter(project__in=self.projects)

    def run_names(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        return dict(self.runs().filter(pk__in=set(ids)).values_list("pk", "name"))


def _loans(seen: _Seen, wanted: LendsWanted) -> QuerySet[LaneLoan]:
    rows = seen.loans()
    if wanted.since is not None:
        rows = rows.filter(Q(until=None) | Q(until__gt=wanted.since))
    if wanted.until is not None:
        rows = rows.filter(since__lt=wanted.until)
    if wanted.run is not None:
        rows = rows.filter(run_id=wanted.run)
    if wanted.project is not None:
        rows = rows.filter(Q(project=wanted.project) | Q(lender=wanted.project))
    if wanted.lane:
        rows = rows.filter(Q(label=wanted.lane) | Q(gpus__contains=[wanted.lane]))
    if wanted.before is not None:
        begin, identity = wanted.before
        # Other ids begin with that of a run, and a text comes behind its own beginning.
        own = Q(pk__lt=UUID(identity)) if len(identity) == UUID_CHARS else Q(pk__lte=UUID(identity[:UUID_CHARS]))
        rows = rows.filter(Q(since__lt=begin) | (Q(since=begin) & own))
    return rows.order_by("-since", "-pk")


def _of_loan(loan: LaneLoan, found: LoanMeasures, names: Mapping[UUID, str], seen: _Seen) -> Lend:
    is_seen = loan.run_id in names
    returned = None
    if loan.notice_at is not None and loan.until is not None:
        returned = (loan.until - loan.notice_at).total_seconds()
    for_run = loan.for_run_id if loan.for_run_id in names else None
    return {
        "id": str(loan.pk),
        "kind": LendKind.BETWEEN_RUNS.value,
        "lane": loan.label,
        "lane_in_run": loan.name_in_run,
        "gpus": list(loan.gpus),
        "role": loan.role,
        "lender_kind": (LenderKind.PROJECT if loan.lender_name else LenderKind.POOL).value,
        "lender": loan.lender_name,
        "lender_project": None if loan.lender_id is None else str(loan.lender_id),
        "run": str(loan.run_id) if is_seen else None,
        "run_name": names.get(loan.run_id, SOMEBODY_ELSES),
        "attempt": loan.attempt,
        "project": str(loan.project_id) if is_seen and loan.project_id else None,
        "begin": loan.since.isoformat(),
        "end": _iso(loan.until),
        "reason": loan.reason,
        # It names the run that waits, which not everybody may see.
        "end_reason": loan.end_reason if for_run is not None or loan.for_run_id is None else "another run is entitled",
        "for_run": None if for_run is None else str(for_run),
        "for_run_name": "" if loan.for_run_id is None else names.get(loan.for_run_id, SOMEBODY_ELSES),
        "notice_at": _iso(loan.notice_at),
        "bound_seconds": loan.bound_seconds,
        "return_seconds": returned,
        "num_dropped": loan.num_dropped,
        "switch_seconds": found.switch_seconds,
        "num_samples": found.num_samples,
        "predicted_gain_seconds": loan.predicted_gain_seconds,
        "least_gain_seconds": None,
        "realised_gain_seconds": found.realised_gain_seconds,
        "predicted_batch_seconds": loan.predicted_seconds,
        "measured_batch_seconds": found.batch_seconds,
        "predicted_batch_seconds_before": loan.predicted_seconds_before,
        "measured_batch_seconds_before": found.batch_seconds_before,
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


# --- within runs ------------------------------------------------------------------------------------------------------


def _within_runs(seen: _Seen, wanted: LendsWanted, limit: int) -> list[Lend]:
    uses = LaneUse.objects.exclude(run_id=None)
    if wanted.since is not None:
        uses = uses.filter(Q(until=None) | Q(until__gt=wanted.since))
    if wanted.until is not None:
        uses = uses.filter(since__lt=wanted.until)
    if wanted.lane:
        uses = uses.filter(Q(label=wanted.lane) | Q(gpus__contains=[wanted.lane]))
    if wanted.run is not None:
        uses = uses.filter(run_id=wanted.run)
    runs = seen.runs().filter(pk__in=uses.values("run_id"))
    if wanted.project is not None:
        runs = runs.filter(project=wanted.project)
    upper = min((at for at in (wanted.until, wanted.before and wanted.before[0]) if at is not None), default=None)
    named = {run.pk: run for run in runs.only("pk", "name", "project_id")}
    found = lane_lends(
        list(named),
        start=None if wanted.since is None else wanted.since.timestamp(),
        end=None if upper is None else upper.timestamp(),
        # One may lie at the cursor itself.
        num_decisions=limit + 1,
    )
    places = _places(found)
    rows = [_within(lend, named[lend.run_id], places.get((lend.run_id, lend.attempt, lend.lane))) for lend in found]
    return [row for row in rows if not wanted.lane or wanted.lane == row["lane"] or wanted.lane in row["gpus"]]


def _places(found: Sequence[LaneLend]) -> dict[tuple[UUID, int, str], LaneUse]:
    """The uses of the lanes, by run, attempt and name."""
    uses = LaneUse.objects.filter(run_id__in={lend.run_id for lend in found}, attempt__isnull=False)
    return {(use.run_id, use.attempt, use.name_in_run): use for use in uses if use.run_id and use.attempt is not None}


def _within(lend: LaneLend, run: Run, use: LaneUse | None) -> Lend:
    return {
        "id": f"{lend.run_id}-{lend.attempt}-{lend.decision}-{lend.lane}",
        "kind": LendKind.WITHIN_RUN.value,
        "lane": "" if use is None else use.label,
        "lane_in_run": lend.lane,
        "gpus": [] if use is None else list(use.gpus),
        "role": LaneRole.ROLLOUT.value,
        "lender_kind": LenderKind.RUN.value,
        "lender": run.name,
        "lender_project": str(run.project_id),
        "run": str(run.pk),
        "run_name": run.name,
        "attempt": lend.attempt,
        "project": str(run.project_id),
        "begin": datetime.fromtimestamp(lend.begin, UTC).isoformat(),
        "end": None if lend.end is None else datetime.fromtimestamp(lend.end, UTC).isoformat(),
        "reason": f"idle trainer lane in batch {lend.batch + 1}",
        "end_reason": "",
        "for_run": None,
        "for_run_name": "",
        "notice_at": None,
        "bound_seconds": None,
        "return_seconds": None,
        "num_dropped": 0,
        "switch_seconds": lend.switch_seconds,
        "num_samples": lend.num_samples,
        "predicted_gain_seconds": lend.predicted_gain_seconds,
        "least_gain_seconds": lend.least_gain_seconds,
        "realised_gain_seconds": lend.realised_gain_seconds,
        "predicted_batch_seconds": None,
        "measured_batch_seconds": None,
        "predicted_batch_seconds_before": None,
        "measured_batch_seconds_before": None,
    }


def cursor_of(row: Lend) -> str:
    """What asks for the lends behind this one."""
    return f"{row['begin']}~{row['id']}"


def parse_cursor(text: str) -> tuple[datetime, str]:
    """Raises `ValueError` for text that `cursor_of` did not write."""
    begin, _, identity = text.partition("~")
    at = datetime.fromisoformat(begin)
    UUID(identity[:UUID_CHARS])
    if at.tzinfo is None:
        raise ValueError(f"`cursor` must be one that a page named, got `{text}`")
    return at, identity
