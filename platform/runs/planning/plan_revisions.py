"""Plans of a run that re-plans itself: what its driver needs for that, and the plans that it reports.

    attempt on `auto` ─► `replan_basis` ─► bootstrap answer ─► driver ─► `plan` event ─► `record_plan` ─► PlanRevision

Invariant: a revision holds what the run worked by from then on, so an attempt that resumes goes on by the newest.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from fleet.device_profiles import profiles_of
from fleet.selectors import devices_by_lane
from runs.models import Attempt, PlanRevision, Run
from runs.planning.cost_history import measured_costs
from runs.planning.plan_body import PlanBody, PlanChoice, PlanPromise
from worker.contracts.events import PlanEvent
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole, Placement
from worker.contracts.replanning import ReplanBasis
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import dump_costs
from worker.scheduling.planning.modes import name_of

_SPLIT = (LaneRole.ROLLOUT, LaneRole.TRAINER)
"""The roles that a plan chooses between."""


def replan_basis(attempt: Attempt, lanes: Sequence[LaneGrant], device_of: Mapping[str, str]) -> ReplanBasis | None:
    """What the attempt's driver plans anew with; None where the user chose placement. `device_of`: by lane."""
    asked = attempt.run.sized_spec
    if asked.pipeline.placement is not Placement.AUTO:
        return None
    devices = {grant.lane: device_of[grant.lane] for grant in lanes if grant.role is not LaneRole.REWARD}
    profiles = profiles_of(devices.values())
    history = measured_costs(asked, devices.values()).tables
    return ReplanBasis(
        # A run that works keeps what its rewards are computed on.
        asked=asked.scoring_on(attempt.concrete_spec.lanes.rewards_on),
        devices={lane: profiles[device] for lane, device in devices.items()} if profiles else {},
        history=tuple(dump_costs(table) for table in history),
    )


def record_plan(run_id: UUID, number: int, event: PlanEvent) -> None:
    """Append the plan that the attempt's driver reports. One of an attempt without a plan changes nothing."""
    attempt = Attempt.objects.get(run_id=run_id, number=number)
    before = attempt.plan_revision
    if before is None:
        return
    roles = event.lanes.values()
    num_trainer = sum(role is LaneRole.TRAINER for role in roles)
    num_rollout = sum(role is LaneRole.ROLLOUT for role in roles)
    spec = RunSpec.model_validate(before.spec)
    lanes = spec.lanes.model_copy(update={"num_rollout": num_rollout, "num_trainer": num_trainer})
    batch = spec.batch.model_copy(update={"fragment_size": event.fragment_size})
    revised = spec.model_copy(update={"pipeline": event.pipeline, "lanes": lanes, "batch": batch})
    Run.objects.filter(pk=run_id).update(algebra=revised.algebra.model_dump(mode="json"))
    PlanRevision.objects.create(
        run_id=run_id,
        attempt=attempt,
        number=before.number + 1,
        since_batch=event.batch,
        reason=event.reason,
        spec=revised.model_dump(mode="json"),
        plan=_body(attempt, spec, event, num_rollout, num_trainer, _positions(run_id, number, event)),
        promise=_promise(event),
    )


def _promise(event: PlanEvent) -> PlanPromise:
    return {
        "seconds_before": event.seconds_before,
        "predicted_move_seconds": event.predicted_move_seconds,
        "move_seconds": event.move_seconds,
    }


def _positions(run_id: UUID, attempt: int, event: PlanEvent) -> list[int]:
    """Positions, among the lanes that generate or train in the pool's order, of those that train."""
    names = [lane for lane in devices_by_lane(run_id, attempt) if event.lanes.get(lane) in _SPLIT]
    return [position for position, lane in enumerate(names) if event.lanes[lane] is LaneRole.TRAINER]


def _body(
    attempt: Attempt,
    spec: RunSpec,
    event: PlanEvent,
    num_rollout: int,
    num_trainer: int,
    trainers: list[int],
) -> PlanBody:
    """The plan as pages show it. Alternatives of the first plan are left out: they rest on costs that proved wrong.
    What the event does not carry, memory and staleness, is that of the newest plan with the same mode; the first one
    has them all."""
    mode, num_trajectories = name_of(event.pipeline), spec.algebra.num_trajectories
    bound_seconds = event.bound_seconds or event.batch_seconds
    plans: list[PlanBody] = list(attempt.plan_revisions.order_by("-number").values_list("plan", flat=True))
    before = plans[0]
    known = next(
        (plan["by_mode"][mode] for plan in plans if mode in plan["by_mode"]), before["by_mode"][before["mode"]]
    )
    choice: PlanChoice = {
        **known,
        "pipeline": event.pipeline.model_dump(mode="json"),
        "num_rollout": num_rollout,
        "num_trainer": num_trainer,
        "fragment_size": event.fragment_size,
        "samples_per_second": num_trajectories / event.batch_seconds,
        "batch_seconds": event.batch_seconds,
        # A run compares what it could do by simulations alone, however large its pool.
        "is_simulated": True,
        "bound_share": min(1.0, bound_seconds / event.batch_seconds),
    }
    return {
        **before,
        "mode": mode,
        "trainers": trainers,
        "by_mode": {mode: choice},
        "curves": {},
        "bound_samples_per_second": num_trajectories / bound_seconds,
        "costs": "own",
        "num_batches_measured": event.batch,
    }
