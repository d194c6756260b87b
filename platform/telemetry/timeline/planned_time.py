"""What a run's plans promised for each lane, batch by batch: the planner's own simulation, to be drawn above what
happened.

    PlanRevision ─┬─► the attempt's first: the costs that the plan assumed ─┐
                  └─► adopted while it worked: what was measured by then ───┴─► `planned_batches`, kept by revision

Invariant: a revision never changes, nor what was reported before it, so its batches are computed once for each version
of the planner; plans too large to draw are refused before anything is simulated.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Annotated
from uuid import UUID

from django.core.cache import cache
from pydantic import with_config
from typing_extensions import TypedDict

from fleet.device_profiles import profile_name
from runs.advisory_lock import advisory_lock
from runs.models import PlanRevision
from runs.planning.plan_cache import planner_digest
from runs.planning.prior_costs import costs_of_lanes
from telemetry.models import StreamItem
from telemetry.selectors import NUM_TRIED
from telemetry.unreadable import readable
from worker.contracts.base import JsonOf
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import IdleCause, SpanKind
from worker.scheduling.core.costs import CostTable, parse_costs, parse_measured_costs
from worker.scheduling.planning.candidate_simulation import SearchTooLongError
from worker.scheduling.planning.planned_batches import PlannedBatch, num_simulated_fragments, planned_batches
from worker.scheduling.replanning.decision import is_drained_for
from worker.scheduling.rescheduling.own_costs import own_costs
from worker.scheduling.rescheduling.reschedule import MAX_SEARCH_SIZE

MAX_LANES = 64
"""Of a plan that is drawn: rows of more lanes are not read one by one."""
MAX_FRAGMENTS = 20_000
"""Of a plan that is simulated to be drawn: 1.2 s of a core, by the 60 µs of `split_simulations`."""
MAX_SPANS = 12_000
"""Of a plan's batches together: some 300 kB, compressed 40."""
KEPT_SECONDS = 7 * 24 * 3600


@with_config(use_attribute_docstrings=True)
class PlannedSpan(TypedDict):
    lane: str
    kind: Annotated[str, JsonOf(SpanKind)]
    cause: Annotated[str | None, JsonOf(IdleCause | None)]
    start: float
    """In seconds from the batch's beginning."""
    end: float


@with_config(use_attribute_docstrings=True)
class PlannedBatchBody(TypedDict):
    """From the report of one version to that of the next."""

    seconds: float
    spans: list[PlannedSpan]


@with_config(use_attribute_docstrings=True)
class PlannedTime(TypedDict):
    """The batches that one plan of a run promised."""

    revision: int
    since: float
    """When the run began to work by it, in Unix seconds."""
    since_batch: int
    """Complete batches then."""
    lead: list[PlannedBatchBody]
    """The first batches, which differ from all later ones."""
    cycle: list[PlannedBatchBody]
    """Those that follow, over and over; empty where the plan is not drawn."""
    not_drawn: str | None
    """Why the plan is not drawn, in a sentence."""


@dataclass(frozen=True, slots=True)
class _Adoption:
    """How a plan was adopted while the run worked by another one."""

    report: StreamItem
    before: PlanRevision

    def drained(self, spec: RunSpec) -> bool:
        """Whether the run was drained for the plan's `spec`; otherwise it begins with a full pipeline."""
        return is_drained_for(RunSpec.model_validate(self.before.spec).pipeline, spec.pipeline)


class _NotDrawn(Exception):
    """The plan cannot be drawn; the message says why."""


def planned_time(run_id: UUID) -> list[PlannedTime]:
    """The plans that the run has worked by, the oldest first; none where the user chose placement."""
    found: list[PlannedTime] = []
    revisions = PlanRevision.objects.filter(run_id=run_id).select_related("attempt")
    for number, of_attempt in groupby(revisions.order_by("number"), lambda revision: revision.attempt.number):
        began = _first_lanes(run_id, number)
        if began is None:
            # Without its lanes an attempt has not begun to work by its plan.
            continue
        in_order = list(of_attempt)
        found.append({**_kept(in_order[0], began, None), "since": began.at})
        for before, revision in pairwise(in_order):
            if (adopted := _adopted(before, revision)) is not None:
                found.append({**_kept(revision, began, adopted), "since": adopted.report.at})
    return found


def _first_lanes(run_id: UUID, attempt: int) -> StreamItem | None:
    """The attempt's first report of its lanes."""
    reports = StreamItem.objects.filter(run_id=run_id, type="lanes", attempt=attempt).order_by("stream_seq")
    return next(readable(reports[:NUM_TRIED]), None)


def _adopted(before: PlanRevision, revision: PlanRevision) -> _Adoption | None:
    """What the attempt reported of adopting the plan; `None` where no report of it can be read."""
    about = {"run_id": revision.run_id, "attempt": revision.attempt.number, "body__batch": revision.since_batch}
    reports = StreamItem.objects.filter(type="plan", **about).order_by("-stream_seq")
    report = next(readable(reports[:NUM_TRIED]), None)
    return None if report is None else _Adoption(report, before)


def _kept(revision: PlanRevision, began: StreamItem, adopted: _Adoption | None) -> PlannedTime:
    key = f"planned-time/{revision.run_id}/{revision.number}/{planner_digest()}"
    kept: PlannedTime | None = cache.get(key)
    if kept is not None:
        return kept
    number = int(hashlib.sha256(key.encode()).hexdigest()[:15], 16)
    with advisory_lock(number, wait=True):
        kept = cache.get(key) or _planned(revision, began, adopted)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def _planned(revision: PlanRevision, began: StreamItem, adopted: _Adoption | None) -> PlannedTime:
    lead, cycle, problem = list[PlannedBatchBody](), list[PlannedBatchBody](), None
    try:
        lead, cycle = _simulated(revision, began, adopted)
    except _NotDrawn as refusal:
        problem = str(refusal)
    except SearchTooLongError:
        problem = "Lending by search has more to forecast for this plan than a drawing may take."
    except ValueError:
        problem = "This plan cannot be simulated on the lanes that the run reported: some have no cost or no role."
    return {
        "revision": revision.number,
        "since": 0.0,
        "since_batch": revision.since_batch,
        "lead": lead,
        "cycle": cycle,
        "not_drawn": problem,
    }


def _simulated(
    revision: PlanRevision, began: StreamItem, adopted: _Adoption | None
) -> tuple[list[PlannedBatchBody], list[PlannedBatchBody]]:
    """The first batches of the plan, and those that follow over and over."""
    spec = RunSpec.model_validate(revision.spec)
    infos = {lane["lane"]: lane for lane in began.body["lanes"]}
    named = {lane: info["role"] for lane, info in infos.items()} if adopted is None else adopted.report.body["lanes"]
    roles = {lane: LaneRole(role) for lane, role in named.items()}
    if len(roles) > MAX_LANES:
        raise _NotDrawn(f"A plan is drawn for at most {MAX_LANES} lanes; this one has {len(roles)}.")
    if num_simulated_fragments(spec) > MAX_FRAGMENTS:
        raise _NotDrawn("This plan's batches hold more fragments than are simulated for a drawing.")
    devices = {lane: infos[lane]["device"] for lane in roles if lane in infos}
    made = planned_batches(
        spec,
        roles,
        _first_costs(revision, roles, devices) if adopted is None else _own_costs(spec, roles, devices, adopted.report),
        max_search_size=MAX_SEARCH_SIZE,
    )
    lead = [_body(batch) for batch in made.lead] if adopted is None or adopted.drained(spec) else []
    cycle = [_body(batch) for batch in made.cycle]
    if sum(len(batch["spans"]) for batch in (*lead, *cycle)) > MAX_SPANS:
        raise _NotDrawn(f"This plan's batches hold more than {MAX_SPANS} spans, too many to draw.")
    return lead, cycle


def _first_costs(revision: PlanRevision, roles: Mapping[str, LaneRole], devices: Mapping[str, str]) -> CostTable:
    """The costs that an attempt's first plan assumed."""
    return parse_costs(costs_of_lanes(revision.plan["expected"], roles, devices))


def _own_costs(
    spec: RunSpec, roles: Mapping[str, LaneRole], devices: Mapping[str, str], adopted: StreamItem
) -> CostTable:
    """What the run had measured when it adopted a plan."""
    reports = StreamItem.objects.filter(run_id=adopted.run_id, type="costs", stream_seq__lt=adopted.stream_seq)
    newest = next(readable(reports.order_by("-stream_seq")[:NUM_TRIED]), None)
    costs = [] if newest is None else [WorkCost.model_validate(cost) for cost in newest.body["costs"]]
    profiles = {lane: name for lane, device in devices.items() if (name := profile_name(device)) is not None}
    return own_costs(spec, roles, profiles, parse_measured_costs(costs))


def _body(batch: PlannedBatch) -> PlannedBatchBody:
    return {
        "seconds": batch.seconds,
        "spans": [
            {"lane": span.lane, "kind": span.kind, "cause": span.cause, "start": span.start, "end": span.end}
            for span in batch.spans
        ],
    }
