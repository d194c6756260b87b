"""The size of a run as plain JSON: its lanes, the free ones that could join, what a change costs, and past resizes."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from accounts.access import Actor
from fleet.lane_demand import kind_for
from fleet.selectors import free_devices, grants_with_devices, pool_lanes
from runs.attempts import attempts
from runs.models import RESIZE_STATES, Attempt, MeasuredCosts, Run, RunResize
from runs.run_body import IsoTime
from runs.selectors import get_run
from worker.contracts.base import JsonOf
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneProgress, ResizeCause, TrainerChangeSeconds, roles_of
from worker.scheduling.core.costs import GANG, TRAINER_CHANGE

NUM_RESIZES = 50
"""The most resizes that one answer holds, the newest: more are in the audit log."""


@with_config(use_attribute_docstrings=True)
class RunLane(TypedDict):
    """A lane that the run holds now."""

    lane: str
    """Its id within the run."""
    role: Annotated[str, JsonOf(LaneRole)]
    node: str
    device: str


@with_config(use_attribute_docstrings=True)
class FreeLanes(TypedDict):
    """Free lanes of the pool that could join the run in a role."""

    role: Annotated[str, JsonOf(LaneRole)]
    device: str
    """Their accelerator, or `cpu`."""
    number: int


@with_config(use_attribute_docstrings=True)
class RecordedResize(TypedDict):
    """A change of the run's lanes while it worked."""

    id: str
    cause: Annotated[str, JsonOf(ResizeCause)]
    requested_by: str | None
    """Name of the user; null where Tandem decided itself, and for an account that was deleted."""
    state: Annotated[str, JsonOf(Literal[tuple(RESIZE_STATES)])]
    """`requested` until the driver has reported on it."""
    reason: str
    """Why it failed, in one sentence."""
    lanes: list[Annotated[dict[str, Any], JsonOf(LaneProgress)]]
    trainer_seconds: Annotated[dict[str, float] | None, JsonOf(TrainerChangeSeconds | None)]
    created_at: IsoTime
    ended_at: IsoTime | None


@with_config(use_attribute_docstrings=True)
class RunSize(TypedDict):
    """The lanes of a run, those that could join it, and its resizes."""

    lanes: list[RunLane]
    roles: list[Annotated[str, JsonOf(LaneRole)]]
    """Roles that lanes of the run can have: a colocated run, planned so or asked for so, has no rollout lanes."""
    free: list[FreeLanes]
    """Free lanes by such a role and by device. One lane may be counted for several roles."""
    trainer_change_seconds: float | None
    """What replacing the trainer gang is expected to take, from what the run has measured: checkpoint, start and
    restore. Null until the run has measured one of them."""
    is_trainer_change_measured: bool
    """Whether all three parts are measured; otherwise the true seconds are more."""
    resizes: list[RecordedResize]
    """The newest first."""


def run_size(user: Actor, run: Run) -> RunSize:
    """Raises `NotVisible` for outsiders."""
    seen = get_run(user, run.pk)
    attempt = attempts.open_attempt(seen.pk)
    roles = _roles(seen, attempt)
    seconds = _trainer_change_seconds(seen)
    return {
        "lanes": [] if attempt is None else _lanes(seen, attempt.number),
        "roles": [role.value for role in roles],
        "free": _free(seen, roles),
        "trainer_change_seconds": sum(seconds.values()) if seconds else None,
        "is_trainer_change_measured": len(seconds) == len(TRAINER_CHANGE),
        "resizes": [_resize_body(row) for row in seen.resizes.select_related("requested_by")[:NUM_RESIZES]],
    }


def _lanes(run: Run, attempt: int) -> list[RunLane]:
    return [
        {"lane": grant.lane, "role": grant.role.value, "node": grant.node, "device": device}
        for grant, device in grants_with_devices(run.pk, attempt)
    ]


def _roles(run: Run, attempt: Attempt | None) -> tuple[LaneRole, ...]:
    spec = run.run_spec if attempt is None else attempt.concrete_spec
    return roles_of(spec.pipeline.placement)


def _free(run: Run, roles: Iterable[LaneRole]) -> list[FreeLanes]:
    pool, rewards_on = pool_lanes(run.pool), run.run_spec.lanes.rewards_on
    return [
        {"role": role.value, "device": device, "number": number}
        for role in roles
        for device, number in sorted(free_devices(kind_for(role, pool, rewards_on=rewards_on), run.pool).items())
    ]


def _trainer_change_seconds(run: Run) -> dict[str, float]:
    """The measured parts of replacing the gang, by kind of work."""
    row = MeasuredCosts.objects.filter(run=run).first()
    costs = [] if row is None else [WorkCost.model_validate(cost) for cost in row.costs]
    return {
        cost.kind: cost.per_call + cost.per_unit for cost in costs if cost.lane == GANG and cost.kind in TRAINER_CHANGE
    }


def _resize_body(row: RunResize) -> RecordedResize:
    return {
        "id": str(row.pk),
        "cause": row.cause,
        "requested_by": None if row.requested_by is None else row.requested_by.username,
        "state": row.state,
        "reason": row.reason,
        "lanes": row.lanes,
        "trainer_seconds": row.trainer_seconds,
        "created_at": row.created_at.isoformat(),
        "ended_at": None if row.ended_at is None else row.ended_at.isoformat(),
    }
