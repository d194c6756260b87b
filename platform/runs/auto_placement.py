"""Resolves `placement: auto` into a concrete spec when lanes are allocated; a plan revision records the reason.

Invariant: the run keeps the spec that its user gave, and an attempt's concrete spec is decided before its lanes are
allocated. An attempt that resumes from a checkpoint keeps the choice under which the checkpoint was written, unless a
resize has changed the number of lanes since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet.selectors import pool_devices
from runs.models import Run
from runs.plan_body import PlanBody, PlanPreview
from runs.plan_cache import PlanningFailed, planned
from worker.contracts.names import Placement
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True)
class ResolvedPlacement:
    """The concrete spec of an attempt, and the plan behind it if the planner chose."""

    spec: RunSpec
    trainers: tuple[int, ...] = ()
    """Positions, among the lanes that generate or train, of those that train; empty: the last ones."""
    plan: PlanBody | None = None
    reason: str = ""
    """Why this plan, in one sentence; empty without a plan."""


def choose(run: Run, devices: Sequence[str]) -> ResolvedPlacement:
    """The concrete spec of the run's next attempt on generating and training lanes of these `devices`.

    Raises `PlanningFailed`; `PlanBeingMade` while another process makes this plan; the caller should retry later.
    """
    asked = run.sized_spec
    if asked.pipeline.placement is not Placement.AUTO:
        return ResolvedPlacement(asked)
    before = run.plan_revisions.last() if run.resume_from else None
    if before is not None and _num_lanes(before.spec) == len(devices):
        reason = f"goes on from batch {run.resume_batch} as before"
        return ResolvedPlacement(
            RunSpec.model_validate(before.spec), tuple(before.plan["trainers"]), before.plan, reason
        )
    chosen = planned(asked, devices, wait=False)
    reason = "the fastest for the lanes that were free"
    return ResolvedPlacement(chosen.applied_to(asked), tuple(chosen.body["trainers"]), chosen.body, reason)


def _num_lanes(spec: Mapping[str, Any]) -> int:
    """The number of lanes that generate or train in a spec as plain JSON."""
    return int(spec["lanes"]["num_rollout"]) + int(spec["lanes"]["num_trainer"])


def hypothetical_plan(asked: RunSpec) -> PlanPreview:
    """What the planner would choose for the spec on the pool's lanes, free or not, ignoring its own placement.

    If the pool has too few lanes, the missing ones are assumed to equal its last one. Raises `PlanningFailed`.
    """
    num_lanes = asked.lanes.num_rollout + asked.lanes.num_trainer
    devices = pool_devices(asked.lanes.pool, num_lanes)
    if not devices:
        raise PlanningFailed(
            f"the pool {asked.lanes.pool} has no lanes that take work: add a node to it, or choose another"
        )
    chosen = planned(asked, devices + devices[-1:] * (num_lanes - len(devices)))
    return {**chosen.body, "fits_pool": len(devices) == num_lanes}
