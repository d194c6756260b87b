"""`placement: auto` becomes a concrete spec when lanes are given: the pure planner chooses, the attempt keeps why.

Invariant: the run keeps what its user asked for; what an attempt works by is decided once, before its lanes are
granted. An attempt that goes on from a checkpoint keeps the choice that the checkpoint was made under.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction

from fleet.selectors import pool_devices
from runs.cost_history import measured_costs
from runs.models import Run
from runs.plan_body import PlanBody, PlanPreview, plan_body
from worker.contracts.names import Placement
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.planner import Plan, plan, with_choice
from worker.scheduling.profiles.hardware import ACCELERATORS

PLANNER_LOCK = 0x7A9DE3
"""Key of the database's advisory lock under which plans are made: one at a time, as each keeps a core busy."""


class PlanningFailed(Exception):
    """The planner finds no placement for the run on these lanes; the message says why."""


class PlannerBusy(Exception):
    """Another plan is being made just now."""


@dataclass(frozen=True, slots=True)
class ResolvedPlacement:
    """What an attempt works by, and the plan behind it where the planner chose."""

    spec: RunSpec
    trainers: tuple[int, ...] = ()
    """Positions, among the lanes that generate or train, of those that train; empty: the last ones."""
    plan: PlanBody | None = None


def choose(run: Run, devices: Sequence[str]) -> ResolvedPlacement:
    """What the run's next attempt works by on generating and training lanes of these `devices`.

    Raises `PlanningFailed`, `PlannerBusy`.
    """
    asked = run.run_spec
    if asked.pipeline.placement is not Placement.AUTO:
        return ResolvedPlacement(asked)
    before = run.attempts.exclude(plan=None).order_by("-number").first() if run.resume_from else None
    if before is not None and before.plan is not None:
        return ResolvedPlacement(before.concrete_spec, tuple(before.plan["trainers"]), before.plan)
    made, body = _plan(asked, devices)
    return ResolvedPlacement(with_choice(asked, made.best), made.best.split_result.candidate.trainers, body)


def hypothetical_plan(asked: RunSpec) -> PlanPreview:
    """What the planner would choose for such a run on the pool's lanes, free or not, whatever placement it asks for.

    Where the pool has too few, the missing ones are taken to be like its last. Raises `PlanningFailed`, `PlannerBusy`.
    """
    num_lanes = asked.lanes.num_rollout + asked.lanes.num_trainer
    devices = pool_devices(num_lanes)
    if not devices:
        raise PlanningFailed("the pool has no lanes: register a node first")
    _, body = _plan(asked, devices + devices[-1:] * (num_lanes - len(devices)))
    return {**body, "fits_pool": len(devices) == num_lanes}


def _plan(asked: RunSpec, devices: Sequence[str]) -> tuple[Plan, PlanBody]:
    profiles = [name for device in devices if (name := profile_name(device)) is not None]
    measured = measured_costs(asked, devices)
    with _alone():
        try:
            made = plan(
                asked,
                # Where some lanes have no profile all count as the planner's default: half a list says nothing.
                devices=profiles if len(profiles) == len(devices) else (),
                history=measured.tables,
            )
        except ValueError as error:
            raise PlanningFailed(str(error)) from error
    return made, plan_body(asked, made, devices, measured)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the planner's lock, which ends with its transaction. Raises `PlannerBusy`, at once, where another has it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [PLANNER_LOCK])
            (is_ours,) = cursor.fetchone()
        if not is_ours:
            raise PlannerBusy("another plan is being made just now: ask again in a few seconds")
        yield


def profile_name(device: str) -> str | None:
    """`NVIDIA H100 80GB HBM3` → `h100`; None for a device that nobody has described."""
    words = device.lower().replace("-", " ").split()
    return next((name for name in ACCELERATORS if name in words), None)
