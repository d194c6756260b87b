"""`placement: auto` becomes a concrete spec when lanes are given: the pure planner chooses, a revision keeps why.

Invariant: the run keeps what its user asked for; what an attempt works by is decided before its lanes are granted. An
attempt that goes on from a checkpoint keeps the choice that the checkpoint was made under.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.selectors import pool_devices
from runs.models import Run
from runs.plan_body import PlanBody, PlanPreview
from runs.plan_cache import PlanningFailed, planned
from worker.contracts.names import Placement
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True)
class ResolvedPlacement:
    """What an attempt works by, and the plan behind it where the planner chose."""

    spec: RunSpec
    trainers: tuple[int, ...] = ()
    """Positions, among the lanes that generate or train, of those that train; empty: the last ones."""
    plan: PlanBody | None = None
    reason: str = ""
    """Why this plan, in one sentence; empty without a plan."""


def choose(run: Run, devices: Sequence[str]) -> ResolvedPlacement:
    """What the run's next attempt works by on generating and training lanes of these `devices`.

    Raises `PlanningFailed`; `PlanBeingMade` while somebody else makes the plan: ask again later.
    """
    asked = run.run_spec
    if asked.pipeline.placement is not Placement.AUTO:
        return ResolvedPlacement(asked)
    before = run.plan_revisions.last() if run.resume_from else None
    if before is not None:
        reason = f"goes on from batch {run.resume_batch} as before"
        return ResolvedPlacement(
            RunSpec.model_validate(before.spec), tuple(before.plan["trainers"]), before.plan, reason
        )
    chosen = planned(asked, devices, wait=False)
    reason = "the fastest for the lanes that were free"
    return ResolvedPlacement(chosen.applied_to(asked), tuple(chosen.body["trainers"]), chosen.body, reason)


def hypothetical_plan(asked: RunSpec) -> PlanPreview:
    """What the planner would choose for such a run on the pool's lanes, free or not, whatever placement it asks for.

    Where the pool has too few, the missing ones are taken to be like its last. Raises `PlanningFailed`.
    """
    num_lanes = asked.lanes.num_rollout + asked.lanes.num_trainer
    devices = pool_devices(num_lanes)
    if not devices:
        raise PlanningFailed("the pool has no lanes: register a node first")
    chosen = planned(asked, devices + devices[-1:] * (num_lanes - len(devices)))
    return {**chosen.body, "fits_pool": len(devices) == num_lanes}
