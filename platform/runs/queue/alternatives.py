"""What a waiting run could ask for instead, so that it starts now.

    fewer generating and training lanes ─┐
    fewer reward lanes ──────────────────┤   may start now   valid as a     enough memory,
    rewards on CPUs ─────────────────────┼─► (`fleet.        new run's  ─► predicted slow-down ─► alternatives
    another pool ────────────────────────┘   reservations`)  spec           (the planner)

Invariant: nothing is proposed that would delay a run ahead, that its user could not have asked for, or that the planner
refuses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError

from fleet.allocation.reservations import Admission, Demand
from fleet.lane_demand import fits, kind_for, kinds_wanted, shrunk
from fleet.selectors import free_devices, pool_devices, pool_lanes
from fleet.shares.shares import held_lanes, pools_open_to, scarce_kind, shares
from runs.models import Run
from runs.planning.device_order import likely_cards, likely_devices
from runs.planning.plan_cache import PlanBeingMade, PlanningFailed, planned
from runs.queue.asked_lanes import with_lanes
from runs.queue.queue_forecast import admission, resources
from runs.run_queue import current_queue
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole, Placement, RewardDevice
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.planning.modes import name_of

MAX_TRIES = 3
"""Sizes that are tried, from the largest that would start now, until the planner takes one: each may take it
seconds."""


class Change(StrEnum):
    """What an alternative changes."""

    FEWER_LANES = "fewer_lanes"
    FEWER_REWARD_LANES = "fewer_reward_lanes"
    REWARDS_ON_CPUS = "rewards_on_cpus"
    OTHER_POOL = "other_pool"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Lanes with which the run would start now."""

    change: Change
    lanes: LaneSpec
    slow_down: float | None
    """How many times as long a batch is predicted to take as with the lanes asked for; `None` if nothing predicts
    it."""

    @property
    def lanes_json(self) -> dict[str, Any]:
        return self.lanes.model_dump(mode="json")


def alternatives(run: Run) -> list[Alternative]:
    """What would start now in place of the lanes that the run asks for; empty for a run that does not wait, and for one
    that starts by itself."""
    pool = _PoolNow(run, run.pool)
    if not pool.is_waiting or pool.may_start(run.asked_lanes):
        return []
    asked = run.sized_spec
    found = [_first_valid(run, asked, change, sizes) for change, sizes in _ways(asked.granted_lanes, pool)]
    for name in pools_open_to(run.project):
        if name != run.pool:
            elsewhere = asked.lanes.model_copy(update={"pool": name})
            sizes = iter([elsewhere]) if _PoolNow(run, name).may_start(elsewhere) else iter(())
            found.append(_first_valid(run, asked, Change.OTHER_POOL, sizes))
    return [alternative for alternative in found if alternative is not None]


def _ways(asked: LaneSpec, pool: "_PoolNow") -> Iterator[tuple[Change, Iterator[LaneSpec]]]:
    """For each kind of change: lanes that would start now, the largest first."""
    fewer = ({"num_rollout": rollout, "num_trainer": trainer} for rollout, trainer in _smaller(asked))
    rewards = ({"num_reward": number} for number in range(asked.num_reward - 1, 0, -1))
    on_cpus = [{"rewards_on": RewardDevice.CPU}] if asked.rewards_on is RewardDevice.OWN_GPU else []
    for change, updates in (
        (Change.FEWER_REWARD_LANES, rewards),
        (Change.REWARDS_ON_CPUS, iter(on_cpus)),
        (Change.FEWER_LANES, fewer),
    ):
        sizes = (asked.model_copy(update=update) for update in updates)
        yield change, (lanes for lanes in sizes if pool.may_start(lanes))


def _smaller(asked: LaneSpec) -> Iterator[tuple[int, int]]:
    """Rollout and trainer lanes, fewer and fewer, in the proportion asked for."""
    wanted = {LaneRole.ROLLOUT: asked.num_rollout, LaneRole.TRAINER: asked.num_trainer}
    fewest = sum(number > 0 for number in wanted.values())
    for number in range(sum(wanted.values()) - 1, fewest - 1, -1):
        fewer = shrunk(wanted, number)
        yield fewer[LaneRole.ROLLOUT], fewer[LaneRole.TRAINER]


def _first_valid(run: Run, asked: RunSpec, change: Change, sizes: Iterator[LaneSpec]) -> Alternative | None:
    for _, lanes in zip(range(MAX_TRIES), sizes, strict=False):
        try:
            spec = with_lanes(asked, lanes.model_dump(mode="json"), run.project)
            return Alternative(change, spec.lanes, _slow_down(asked, spec))
        except (ValidationError, PlanningFailed):
            continue
    return None


def _slow_down(asked: RunSpec, spec: RunSpec) -> float | None:
    """Seconds of a batch with `spec` over those with `asked`. Raises `PlanningFailed` where the lanes lack memory."""
    pool = spec.lanes.pool
    free = free_devices(kind_for(LaneRole.TRAINER, pool_lanes(pool)), pool)
    cards = likely_cards(spec, free)
    if len(memory_warnings(spec, *cards)) > len(memory_warnings(asked, *cards)):
        raise PlanningFailed("the lanes are predicted to lack memory")
    after = _batch_seconds(spec, likely_devices(spec, free))
    num_lanes = asked.lanes.num_rollout + asked.lanes.num_trainer
    whole = likely_devices(asked, pool_devices(asked.lanes.pool))
    try:
        before = _batch_seconds(asked, whole) if len(whole) == num_lanes else None
    except PlanningFailed:
        before = None
    return None if after is None or before is None else after / before


def _batch_seconds(spec: RunSpec, devices: Sequence[str]) -> float | None:
    """As the planner predicts for the spec's own mode and split. Raises `PlanningFailed` for one that it would have to
    place and cannot."""
    is_auto = spec.pipeline.placement is Placement.AUTO
    try:
        body = planned(spec, devices, wait=False).body
    except PlanBeingMade:
        return None
    except PlanningFailed:
        if is_auto:
            raise
        return None
    if is_auto:
        return body["by_mode"][body["mode"]]["batch_seconds"]
    mode = name_of(spec.pipeline)
    if mode == "colocated" and mode in body["by_mode"]:
        return body["by_mode"][mode]["batch_seconds"]
    rates = [
        point["samples_per_second"]
        for point in body["curves"].get(mode, [])
        if point["num_trainer"] == spec.lanes.num_trainer
    ]
    return spec.algebra.num_trajectories / rates[0] if rates else None


class _PoolNow:
    """Which lanes of a pool the run could have now."""

    def __init__(self, run: Run, name: str) -> None:
        self._run, self._lanes = run, pool_lanes(name)
        queue = current_queue(name)
        ahead = [one for one in queue.order if one.pk != run.pk]
        self.is_waiting = len(ahead) < len(queue.order)
        """Whether the run is in this queue."""
        if self.is_waiting:
            # Runs that a limit stops keep nothing.
            place = queue.order.index(next(one for one in queue.order if one.pk == run.pk))
            ahead = [one for one in queue.order[:place] if one in queue.in_turn]
        else:
            ahead = list(queue.in_turn)
        self._admission = self._after([one for one in ahead if fits(one.asked_lanes, self._lanes, self._lanes)], name)
        self._left = self._left_of_limit(ahead, name)

    def may_start(self, lanes: LaneSpec) -> bool:
        if not fits(lanes, self._lanes, self._lanes):
            return False
        wanted = kinds_wanted(lanes, self._lanes)
        if self._left is not None and wanted.get(self._kind, 0) > self._left:
            return False
        # How long it would hold these lanes is not known.
        return self._admission.may_start(Demand(self._run.pk, resources(wanted), None))

    def _after(self, ahead: Sequence[Run], name: str) -> Admission[UUID]:
        """The pool with those ahead served."""
        admitted, demands = admission(ahead, name)
        for one in ahead:
            if admitted.may_start(demands[one.pk]):
                admitted.started(demands[one.pk])
            else:
                admitted.waits(demands[one.pk])
        return admitted

    def _left_of_limit(self, ahead: Sequence[Run], name: str) -> int | None:
        """Lanes that its project may still hold; `None` without a limit."""
        self._kind = scarce_kind(name)
        share = shares(name).get(self._run.project_id)
        if share is None or share.limit is None:
            return None
        own = (one for one in ahead if one.project_id == self._run.project_id)
        soon = sum(kinds_wanted(one.asked_lanes, self._lanes).get(self._kind, 0) for one in own)
        return share.limit - held_lanes(name, self._kind).get(self._run.project_id, 0) - soon
