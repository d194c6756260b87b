"""When a queued test may begin, and the lanes that it holds meanwhile: that of its GPU, and that of a peer.

Invariant: on a node one test runs at a time. So its figures are not those of a busy node, and of several GPUs that wait
after maintenance the first that has passed is the peer of the others.
"""

from collections.abc import Iterator
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.secrets import hash_secret
from fleet.health.gpu_test_reports import CODE_LIFETIME
from fleet.models import Gpu, GpuTest, GpuTestState, Lane, LaneKind, Node, ServiceState
from fleet.pools.pool_changes import publish_holders
from fleet.selectors import free_in_order, grant_of_gpu
from fleet.services import allocate_for_test
from worker.contracts.lanes import LaneGrant


@transaction.atomic
def claim(test_id: UUID, code: str) -> LaneGrant | None:
    """What the job of a queued test occupies, its lanes held, for this caller to submit; None if it cannot begin now.
    What it waits for is its `reason` then."""
    queued = GpuTest.objects.filter(pk=test_id, state=GpuTestState.QUEUED, gpu__state=ServiceState.AWAITING_TEST)
    test = queued.select_related("gpu__lane", "gpu__node").select_for_update(skip_locked=True, of=("self",)).first()
    if test is None:
        return None
    gpu = test.gpu
    # Two tests of a node that begin at once would not see each other.
    Node.objects.select_for_update().get(pk=gpu.node_id)
    waits_for = obstacle(gpu)
    if waits_for:
        if GpuTest.objects.filter(pk=test_id).exclude(reason=waits_for).update(reason=waits_for):
            publish_holders([gpu.node_id])
        return None
    for peer in (*peers_of(gpu), None):
        # A lane of several GPUs may hold both.
        lanes = {one.lane_id for one in (gpu, peer) if one is not None and one.lane_id is not None}
        if allocate_for_test(test_id, lanes):
            break
    else:
        # Somebody is just changing its lane.
        return None
    now = timezone.now()
    GpuTest.objects.filter(pk=test_id).update(
        state=GpuTestState.RUNNING.value,
        started_at=now,
        peer=peer,
        reason="",
        code_hash=hash_secret(code),
        code_expires_at=now + CODE_LIFETIME,
    )
    return _occupied(gpu, peer)


def obstacle(gpu: Gpu) -> str:
    """What a test of the GPU would have to wait for now; empty for nothing."""
    node, lane = gpu.node, gpu.lane
    if node.lost_since is not None:
        return "waits until its node can be reached"
    if gpu.lost_since is not None:
        return "waits until its driver reaches the GPU"
    if node.state == ServiceState.MAINTENANCE:
        return "waits until the maintenance of its node ends"
    if not node.are_gpus_held:
        return "waits until no other program on Ray uses GPUs of its node"
    if lane is None:
        return "waits for a lane"
    if lane.test_id is None and lane.held_since is not None:
        return "waits until the run on its lane has ended"
    if Lane.objects.filter(node=node).exclude(test_id=None).exists():
        return "waits until another test on its node has ended"
    return ""


def peers_of(gpu: Gpu) -> Iterator[Gpu]:
    """GPUs in service that the all-reduce can be with, the best first: linked by NVLink, of the same model, near.

    MIG slices have none, since the vendor's collectives do not join them.
    """
    if _is_slice(gpu):
        return
    free = free_in_order(LaneKind.GPU, pool=None).filter(node=gpu.node_id)
    others = Gpu.objects.filter(node=gpu.node_id, state=ServiceState.ACTIVE, lost_since=None).exclude(pk=gpu.pk)
    found = others.filter(lane__in=[*free.values_list("pk", flat=True), gpu.lane_id]).select_related("lane__node")
    linked = gpu.topology.get("nvlink_peers", ())

    def distance(other: Gpu) -> tuple[bool, bool, int]:
        return other.uuid not in linked, other.accelerator != gpu.accelerator, abs(other.index - gpu.index)

    yield from sorted((other for other in found if not _is_slice(other)), key=distance)


def _occupied(tested: Gpu, peer: Gpu | None) -> LaneGrant:
    """The tested GPU, with Ray's resources of both."""
    # Read again, since their lanes are held now.
    found = Gpu.objects.select_related("lane__node").in_bulk([gpu.pk for gpu in (tested, peer) if gpu is not None])
    grant = grant_of_gpu(found.pop(tested.pk))
    of_peer = (resource for gpu in found.values() for resource in grant_of_gpu(gpu).resources)
    return grant.model_copy(update={"resources": (*grant.resources, *of_peer)})


def _is_slice(gpu: Gpu) -> bool:
    return bool(gpu.identity.get("parent_uuid"))
