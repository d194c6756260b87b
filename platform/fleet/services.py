"""Allocates lanes to the attempts of a run, to previews of its LoRA and to tests of GPUs, changes their roles, and
releases them. Contains no run logic.

Invariant: a request is granted whole or not at all, in one transaction; two dispatchers never get the same lane. Within
an attempt a lane's name is never given to another lane.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fleet.allocation.device_mixes import demand_for, taken_in_order
from fleet.allocation.lane_choice import ChosenLanes, LaneDemand
from fleet.allocation.lane_loans import end_loans
from fleet.allocation.lane_locks import LockedLanes, lock_best, locked_lanes
from fleet.allocation.wide_lanes import regroup_on_commit
from fleet.lane_demand import kind_for, kinds_wanted, lane_name, lane_number, lanes_in_order
from fleet.models import Lane, LaneUse
from fleet.pools.pool_changes import publish_holders
from fleet.selectors import grant_of, pool_lanes
from fleet.signals import announce_lanes
from worker.contracts.device_names import divided
from worker.contracts.lanes import LaneGrant, LaneSpec
from worker.contracts.names import LaneRole, RewardDevice


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneHolder:
    """Who holds lanes: an attempt of a run, a preview of its LoRA, or a test of a GPU, which is for no run; with the
    project and user they count for."""

    run_id: UUID | None = None
    attempt: int | None = None
    preview_id: UUID | None = None
    test_id: UUID | None = None
    project_id: UUID | None
    user_id: int | None


@transaction.atomic
def allocate(
    *, holder: LaneHolder, wanted: LaneSpec, chosen: ChosenLanes | None = None
) -> tuple[LaneGrant, ...] | None:
    """Allocate just the lanes `chosen` for the request, by default those that suit it best now; None if they are not
    all free.

    Lanes that another dispatcher has locked are passed over, never waited for.
    """
    locked = _best(wanted) if chosen is None else locked_lanes(chosen, pool=wanted.pool)
    if locked is None:
        return None
    by_role = {role: iter(lanes) for role, lanes in locked.items()}
    taken = [(next(by_role[role]), role, name) for role, name in lanes_in_order(wanted)]
    _hold(holder, taken)
    return tuple(grant_of(lane) for lane, _, _ in taken)


def _best(wanted: LaneSpec) -> LockedLanes | None:
    pool = pool_lanes(wanted.pool)
    return lock_best(list(kinds_wanted(wanted, pool)), partial(demand_for, wanted, pool), pool=wanted.pool)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLanes:
    """Lanes of one role that an attempt wants in addition to those it has."""

    role: LaneRole
    number: int
    device: str | None = None
    """The accelerator that they must have, or `cpu`; `None` for any."""


@transaction.atomic
def allocate_more(
    *, holder: LaneHolder, pool: str, wanted: Sequence[WantedLanes], rewards_on: RewardDevice = RewardDevice.AUTO
) -> tuple[LaneGrant, ...] | None:
    """Allocate further lanes to an attempt that holds some; None if the free lanes do not suffice for all of them."""
    held = Lane.objects.filter(run_id=holder.run_id, attempt=holder.attempt)
    near = set(held.values_list("node__name", flat=True))
    lanes = list(held.prefetch_related("gpus"))
    own = {lane.device_kind for lane in lanes}
    width = next((divided(lane.device_kind)[0] for lane in lanes if lane.role == LaneRole.TRAINER), 1)
    lanes_of_pool, taken = pool_lanes(pool), list[tuple[Lane, LaneRole, str]]()
    for more in wanted:
        kind = kind_for(more.role, lanes_of_pool, rewards_on=rewards_on)
        used = [lane.pk for lane, _, _ in taken]
        demand_of = partial(_demand, more, own, width)
        locked = lock_best([kind], demand_of, pool=pool, near=near, without=used)
        if locked is None:
            return None
        first = _next_number(holder, more.role) + sum(role is more.role for _, role, _ in taken)
        taken += [
            (lane, more.role, lane_name(more.role, first + index)) for index, lane in enumerate(locked[more.role])
        ]
    _hold(holder, taken)
    return tuple(grant_of(lane) for lane, _, _ in taken)


def _demand(more: WantedLanes, own: Collection[str], trainer_width: int, free: Mapping[str, int]) -> LaneDemand | None:
    """The lanes of one role by device: of one kind where that is possible, and of the holder's `own` kinds first, since
    the lanes of a gang wait for each other; of as few GPUs as there are, trainer lanes of as many as the others
    have."""
    if more.device is not None:
        free = {more.device: free.get(more.device, 0)}
    if more.role is LaneRole.TRAINER:
        free = {device: number for device, number in free.items() if divided(device)[0] == trainer_width}
    enough = [device for device, number in free.items() if number >= more.number]
    order = sorted(enough or free, key=lambda device: (device not in own, divided(device)))
    devices = taken_in_order(free, more.number, order)
    if devices.total() < more.number:
        return None
    by_role = {role: devices if role is more.role else Counter[str]() for role in LaneRole}
    return LaneDemand(
        trainers=by_role[LaneRole.TRAINER], rollouts=by_role[LaneRole.ROLLOUT], rewards=by_role[LaneRole.REWARD]
    )


def _next_number(holder: LaneHolder, role: LaneRole) -> int:
    """The number after those of all lanes that the attempt was ever given for the role."""
    uses = LaneUse.objects.filter(
        run_id=holder.run_id, attempt=holder.attempt, name_in_run__startswith=lane_name(role, 0)[:-1]
    )
    numbers = [lane_number(name) for name in uses.values_list("name_in_run", flat=True)]
    return max(numbers, default=-1) + 1


@transaction.atomic
def change_role(*, run_id: UUID, attempt: int, name: str, role: LaneRole) -> bool:
    """Record that a lane of the attempt has another role now: its use ends, and another begins. False if it has that
    role already, or is not held any more."""
    rows = Lane.objects.filter(run_id=run_id, attempt=attempt, name_in_run=name).exclude(role=role.value)
    lane = rows.select_for_update(of=("self",)).first()
    if lane is None:
        return False
    now = timezone.now()
    use = LaneUse.objects.get(lane=lane, until=None)
    LaneUse.objects.filter(pk=use.pk).update(until=now)
    use.pk, use.role, use.since, use.until = None, role.value, now, None
    use.save(force_insert=True)
    lane.role = role.value
    lane.save(update_fields=["role"])
    publish_holders([lane.node_id])
    return True


@transaction.atomic
def hand_over(*, attempt: int, holder: LaneHolder) -> int:
    """Give the holder, a later attempt of the same run, all lanes that `attempt` holds, with their roles and names;
    returns their number. Their uses end, and others begin."""
    rows = Lane.objects.filter(run_id=holder.run_id, attempt=attempt).select_for_update(of=("self",))
    lanes = list(rows.select_related("node").prefetch_related("gpus"))
    LaneUse.objects.filter(lane__in=lanes, until=None).update(until=timezone.now())
    _hold(holder, [(lane, LaneRole(lane.role), lane.name_in_run) for lane in lanes])
    return len(lanes)


def _hold(holder: LaneHolder, taken: Sequence[tuple[Lane, LaneRole, str]]) -> None:
    """Write the holder, role and name of the lanes, and begin a `LaneUse` of each."""
    now = timezone.now()
    uses = []
    for lane, role, name in taken:
        lane.run_id, lane.attempt = holder.run_id, holder.attempt
        lane.preview_id, lane.test_id = holder.preview_id, holder.test_id
        lane.role, lane.name_in_run, lane.held_since = role.value, name, now
        use = LaneUse(
            lane=lane,
            label=lane.label,
            pool=lane.pool_id,
            gpus=[gpu.name for gpu in lane.gpus.all()],
            accelerator=lane.accelerator,
            price_per_hour=lane.price_per_hour,
            run_id=holder.run_id,
            attempt=holder.attempt,
            preview_id=holder.preview_id,
            test_id=holder.test_id,
            role=role.value,
            name_in_run=name,
            project_id=holder.project_id,
            user_id=holder.user_id,
            since=now,
        )
        uses.append(use)
    fields = ["run_id", "attempt", "preview_id", "test_id", "role", "name_in_run", "held_since"]
    # One statement of plain values: `bulk_update` builds a CASE for each column and row.
    Lane.objects.bulk_create(
        [lane for lane, _, _ in taken], update_conflicts=True, unique_fields=["id"], update_fields=fields
    )
    LaneUse.objects.bulk_create(uses)
    publish_holders(lane.node_id for lane, _, _ in taken)


@transaction.atomic
def allocate_for_preview(holder: LaneHolder, pool: str) -> LaneGrant | None:
    """Allocate a lane of the pool for a preview: a GPU if it has any, else a CPU lane; None if none is free.

    A single lane does not queue behind runs that wait for several.
    """
    demand_of = partial(_demand, WantedLanes(role=LaneRole.ROLLOUT, number=1), (), 1)
    locked = lock_best([kind_for(LaneRole.ROLLOUT, pool_lanes(pool))], demand_of, pool=pool)
    if locked is None:
        return None
    (lane,) = locked[LaneRole.ROLLOUT]
    _hold(holder, [(lane, LaneRole.ROLLOUT, lane_name(LaneRole.ROLLOUT, 0))])
    return grant_of(lane)


@transaction.atomic
def allocate_for_test(test_id: UUID, lanes: Collection[int]) -> bool:
    """Allocate just these lanes, by key, to a test of a GPU, whether they take work or not; false if one is held."""
    free = Lane.objects.filter(pk__in=lanes, held_since=None).select_for_update(skip_locked=True, of=("self",))
    found = list(free.prefetch_related("gpus__node"))
    if len(found) < len(lanes):
        return False
    names = [(lane, LaneRole.ROLLOUT, lane_name(LaneRole.ROLLOUT, number)) for number, lane in enumerate(found)]
    _hold(LaneHolder(test_id=test_id, project_id=None, user_id=None), names)
    return True


def release(*, run_id: UUID, attempt: int) -> int:
    """Release every lane of the attempt; returns their number, which may be 0."""
    return _free(Lane.objects.filter(run_id=run_id, attempt=attempt))


def release_lanes(*, run_id: UUID, attempt: int, names: Collection[str]) -> int:
    """Release the attempt's lanes of these names; returns their number. Those that it does not hold are left out."""
    return _free(Lane.objects.filter(run_id=run_id, attempt=attempt, name_in_run__in=names))


def release_preview(preview_id: UUID) -> int:
    """Release the preview's lane; returns the number of lanes released."""
    return _free(Lane.objects.filter(preview_id=preview_id))


def release_test(test_id: UUID) -> int:
    """Release the test's lanes; returns the number of lanes released."""
    return _free(Lane.objects.filter(test_id=test_id))


@transaction.atomic
def _free(lanes: QuerySet[Lane]) -> int:
    # Their order is by node, whose row a report may hold: only the lanes are locked.
    held = {lane.pk: lane.node_id for lane in lanes.select_for_update(of=("self",)).only("pk", "node_id")}
    publish_holders(held.values())
    if held:
        regroup_on_commit(held.keys())
        announce_lanes()
    LaneUse.objects.filter(lane__in=held, until=None).update(until=timezone.now())
    end_loans(held)
    return Lane.objects.filter(pk__in=held).update(
        run_id=None, attempt=None, preview_id=None, test_id=None, role="", name_in_run="", held_since=None
    )
