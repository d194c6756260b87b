"""What the home page says at one look: the user's and the team's runs by what becomes of them, and what needs somebody.

The state of the pool's lanes is `runs.pool.pool_overview`'s; this adds the runs and the alerts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from accounts.access import Actor
from fleet.models import Gpu, Node, ServiceState
from fleet.selectors import newest_agent
from fleet.shares.spending import in_words, spendings
from fleet.states.standing import PoolState, of_node
from runs.lending.idle_lanes import idle_of
from runs.models import Run
from runs.selectors import visible_runs
from runs.wait_reasons import why_waiting
from worker.contracts.states import RunState

RECENT = timedelta(days=7)
"""Runs that ended longer ago are history, which the list of runs holds."""
MAX_ROWS = 8
"""As many rows of each group fit on one screen of the page."""
MIN_ROWS_OF_OTHERS = MAX_ROWS // 2
"""However many runs the user has: the team's stand beside them."""
SILENT = timedelta(minutes=2)
"""A node agent reports every few seconds; after so long nobody knows what the pool's GPUs do."""


class RunGroup(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    FINISHED = "finished"


_STATES = {
    RunGroup.RUNNING: (RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING),
    RunGroup.WAITING: (RunState.QUEUED,),
    RunGroup.FAILED: (RunState.FAILED,),
    RunGroup.FINISHED: (RunState.COMPLETED, RunState.STOPPED),
}
_PAST = (RunGroup.FAILED, RunGroup.FINISHED)


@dataclass(frozen=True, slots=True)
class HomeRun:
    run: Run
    is_mine: bool
    note: str
    """Why it waits, failed, or is warned of, in one sentence; empty for nothing."""


@dataclass(frozen=True, slots=True)
class HomeGroup:
    group: RunGroup
    number: int
    number_mine: int
    rows: tuple[HomeRun, ...]
    """The user's own first, then others'; the newest of either first."""


@dataclass(frozen=True, slots=True)
class Alert:
    text: str
    page: str
    """Address of the page on which to look into it."""


@dataclass(frozen=True, slots=True)
class HomeOverview:
    groups: tuple[HomeGroup, ...]
    alerts: tuple[Alert, ...]
    pool_reported_at: datetime | None
    now: datetime


def home_overview(user: Actor, project: UUID | None = None) -> HomeOverview:
    """Of all projects of the user, or of one of them."""
    now, agent = timezone.now(), newest_agent()
    rows = visible_runs(user).filter(archived_at=None)
    if project is not None:
        rows = rows.filter(project=project)
    reported_at = None if agent is None else agent.reported_at
    groups = tuple(_group(user, rows, group, now) for group in RunGroup)
    return HomeOverview(groups, _alerts(user, reported_at, now), reported_at, now)


def _group(user: Actor, rows: QuerySet[Run], group: RunGroup, now: datetime) -> HomeGroup:
    found = rows.filter(state__in=[state.value for state in _STATES[group]])
    if group in _PAST:
        found = found.filter(ended_at__gte=now - RECENT)
    mine = Q(created_by=user.pk)
    counted = found.order_by().aggregate(number=Count("pk"), mine=Count("pk", filter=mine))
    newest = found.defer("spec", "algebra", "prompts").order_by("-state_changed_at", "-pk")
    own = list(newest.filter(mine)[:MAX_ROWS])
    shown = [*own, *newest.exclude(mine)[: max(MIN_ROWS_OF_OTHERS, MAX_ROWS - len(own))]]
    return HomeGroup(group, counted["number"], counted["mine"], tuple(_rows(user, shown)))


def _rows(user: Actor, runs: Sequence[Run]) -> Iterable[HomeRun]:
    notes = {**why_waiting(runs), **idle_of(runs)}
    for run in runs:
        failed = run.failure["reason"] if run.failure else ""
        yield HomeRun(run, run.created_by_id == user.pk, notes.get(run.pk, failed))


def _alerts(user: Actor, reported_at: datetime | None, now: datetime) -> tuple[Alert, ...]:
    return (*_agent_alerts(reported_at, now), *_node_alerts(), *_gpu_alerts(), *_budget_alerts(user))


def _agent_alerts(reported_at: datetime | None, now: datetime) -> Iterable[Alert]:
    if reported_at is not None and now - reported_at > SILENT:
        minutes = int((now - reported_at).total_seconds() // 60)
        yield Alert(f"The node agent has been silent for {minutes} min: what the pool shows is as old.", "/pool")


def _node_alerts() -> Iterable[Alert]:
    """Nodes that are lost or faulty: somebody has to look at the machine."""
    for node in Node.objects.order_by("name"):
        standing = of_node(node)
        if standing.state in (PoolState.LOST, PoolState.FAULTY):
            why = f": {standing.reason}" if standing.reason else ""
            yield Alert(f"Node {node.name} is {standing.state.value}{why}", "/pool")


def _gpu_alerts() -> Iterable[Alert]:
    """Faulty GPUs of nodes that are alive."""
    faulty = Gpu.objects.filter(state=ServiceState.FAULTY, lost_since=None, node__lost_since=None)
    for gpu in faulty.select_related("node").order_by("node__name", "index"):
        why = f": {gpu.reason}" if gpu.reason else ""
        yield Alert(f"GPU {gpu.index} of {gpu.node.name} is faulty{why}", f"/pool/gpus/{gpu.pk}")


def _budget_alerts(user: Actor) -> Iterable[Alert]:
    """Budgets that are spent: dispatch may hold their projects' runs back."""
    for spending in spendings(user):
        if spending.is_spent:
            yield Alert(f"{spending.budget.project.name}: {in_words(spending)}", "/usage")
