"""Allocates lanes to the attempts of a run and to previews of its LoRA, and releases them. Contains no run logic.

Invariant: a request is granted whole or not at all, in one transaction; two dispatchers never get the same lane.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fleet.lane_demand import kind_for, kinds_wanted, roles_in_order
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node
from fleet.selectors import free_in_order, grant_of, pool_lanes
from worker.contracts.ingest import LaneGrant
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole

LOCAL_NODE = "local"
NOT_OFFERED = "its node does not offer it any more"
"""The reason of a surplus lane that is cordoned; a lane that an admin cordoned stays cordoned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneHolder:
    """Who holds lanes: an attempt of a run, or a preview of its LoRA; with the project and user they count for."""

    run_id: UUID
    attempt: int | None = None
    preview_id: UUID | None = None
    project_id: UUID | None
    user_id: int | None


def gpu_resource(node: str, index: int) -> str:
    """The name of the custom Ray resource for one GPU of a node."""
    return f"tandem-{node}-gpu-{index}"


@transaction.atomic
def ensure_local_lanes(
    *, num_cpu_lanes: int, num_gpus: int = 0, accelerator: str = "", node: str = LOCAL_NODE
) -> list[Lane]:
    """Make the node hold exactly these lanes. Idempotent; a surplus lane that is held is removed once it is free."""
    home, _ = Node.objects.get_or_create(name=node)
    Node.objects.select_for_update().get(pk=home.pk)
    for kind, count in ((LaneKind.CPU, num_cpu_lanes), (LaneKind.GPU, num_gpus)):
        for index in range(count):
            lane, _ = Lane.objects.get_or_create(
                node=home, kind=kind, index=index, defaults={"label": f"{node}/{kind}-{index}"}
            )
            if kind == LaneKind.GPU:
                _ensure_gpu(lane, index, accelerator)
        lanes = Lane.objects.filter(node=home, kind=kind)
        lanes.filter(index__lt=count, reason=NOT_OFFERED).update(cordoned=False, reason="")
        surplus = lanes.filter(index__gte=count)
        surplus.filter(run_id=None).delete()
        surplus.filter(cordoned=False).update(cordoned=True, reason=NOT_OFFERED)
    Gpu.objects.filter(node=home, lane=None).delete()
    return list(Lane.objects.filter(node=home))


def _ensure_gpu(lane: Lane, index: int, accelerator: str) -> None:
    """Record that the node's GPU `index` belongs to `lane`."""
    resource = gpu_resource(lane.node.name, index)
    Gpu.objects.update_or_create(
        node=lane.node, index=index, defaults={"lane": lane, "accelerator": accelerator, "resource": resource}
    )


@transaction.atomic
def allocate(*, holder: LaneHolder, wanted: LaneSpec, trainers: Collection[int] = ()) -> tuple[LaneGrant, ...] | None:
    """Allocate lanes for every role; None if the free lanes do not suffice for the whole request.

    Lanes that another dispatcher has locked are skipped, never waited for. `trainers` are the positions, among the
    lanes that generate or train, of those that train; by default the last ones do.
    """
    chosen: dict[LaneKind, list[Lane]] = {}
    pool = pool_lanes()
    for kind, count in kinds_wanted(wanted, pool).items():
        chosen[kind] = _locked_free_lanes(kind, count)
        if len(chosen[kind]) < count:
            return None
    working = kind_for(LaneRole.TRAINER, pool)
    chosen[working] = _trainers_last(chosen[working], wanted.num_rollout + wanted.num_trainer, trainers)
    taken = [
        (chosen[kind_for(role, pool, rewards_on_gpus=wanted.rewards_on_gpus)].pop(0), role, index)
        for role, index in roles_in_order(wanted)
    ]
    _hold(holder, taken)
    return tuple(grant_of(lane) for lane, _, _ in taken)


def _hold(holder: LaneHolder, taken: Sequence[tuple[Lane, LaneRole, int]]) -> None:
    """Write the holder, role and role index of the lanes, and begin a `LaneUse` of each."""
    now = timezone.now()
    uses = []
    for lane, role, index in taken:
        lane.run_id, lane.attempt, lane.preview_id = holder.run_id, holder.attempt, holder.preview_id
        lane.role, lane.role_index, lane.held_since = role.value, index, now
        use = LaneUse(
            lane=lane,
            label=lane.label,
            gpus=[gpu.name for gpu in lane.gpus.all()],
            accelerator=lane.accelerator,
            run_id=holder.run_id,
            attempt=holder.attempt,
            preview_id=holder.preview_id,
            role=role.value,
            role_index=index,
            project_id=holder.project_id,
            user_id=holder.user_id,
            since=now,
        )
        uses.append(use)
    fields = ["run_id", "attempt", "preview_id", "role", "role_index", "held_since"]
    Lane.objects.bulk_update([lane for lane, _, _ in taken], fields)
    LaneUse.objects.bulk_create(uses)


def _trainers_last(lanes: list[Lane], num_working: int, trainers: Collection[int]) -> list[Lane]:
    """The first `num_working` lanes with those at the positions `trainers` moved to their end, then the other lanes."""
    positions = sorted(range(num_working), key=lambda position: position in trainers)
    return [lanes[position] for position in positions] + lanes[num_working:]


@transaction.atomic
def allocate_for_preview(holder: LaneHolder) -> LaneGrant | None:
    """Allocate a lane for a preview: a GPU if the pool has any, else a CPU lane; None if none is free.

    A single lane does not queue behind runs that wait for several.
    """
    for lane in _locked_free_lanes(kind_for(LaneRole.ROLLOUT, pool_lanes()), 1):
        _hold(holder, [(lane, LaneRole.ROLLOUT, 0)])
        return grant_of(lane)
    return None


def _locked_free_lanes(kind: LaneKind, count: int) -> list[Lane]:
    """At most `count` free lanes of the kind, locked until the transaction ends."""
    return list(free_in_order(kind).select_for_update(skip_locked=True, of=("self",))[:count])


def release(*, run_id: UUID, attempt: int) -> int:
    """Release every lane of the attempt; returns their number, which may be 0."""
    return _free(Lane.objects.filter(run_id=run_id, attempt=attempt))


def release_preview(preview_id: UUID) -> int:
    """Release the preview's lane; returns the number of lanes released."""
    return _free(Lane.objects.filter(preview_id=preview_id))


@transaction.atomic
def _free(lanes: QuerySet[Lane]) -> int:
    held = list(lanes.select_for_update().values_list("pk", flat=True))
    LaneUse.objects.filter(lane__in=held, until=None).update(until=timezone.now())
    return Lane.objects.filter(pk__in=held).update(
        run_id=None, attempt=None, preview_id=None, role="", role_index=None, held_since=None
    )
