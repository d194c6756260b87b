"""The pool's socket: what changes is told to everybody, and to nobody whose run it is."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async

from accounts.models import Membership, Project, User
from fleet.health.upkeep import PoolAction, act
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, Node, ServiceState
from fleet.services import allocate, change_role, release
from live.publish import flush
from runs.models import Run
from telemetry.sockets import consumers
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from tests.web.telemetry.sockets.socket_scenarios import Socket, scenario, socket
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole

pytestmark = pytest.mark.django_db(transaction=True)
MakeRun = Callable[..., Run]
POOL = "/ws/v1/pool"


@pytest.fixture(autouse=True)
def nothing_is_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of these tests come from what they do, not from the test before, unless a test polls."""
    assert flush()
    monkeypatch.setattr(consumers, "POLL_SECONDS", 60.0)


async def changed(opened: Socket) -> list[int] | None:
    """The nodes that the next frame names."""
    nodes: list[int] | None = (await opened.frame())["changed"]
    return nodes


async def doing(act: Callable[[], Any]) -> None:
    """Do it, and wait until what it published has been sent."""

    def whole() -> None:
        act()
        assert flush()

    await database_sync_to_async(whole)()


def test_the_first_frame_has_everything_read_and_the_next_ones_what_has_changed(admin: User, charlie: User) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    node = Node.objects.get()

    async def scene() -> None:
        async with socket(POOL, charlie) as opened:
            assert await changed(opened) is None
            await doing(lambda: act(user=admin, on=node, action=PoolAction.DRAIN, reason="new cables"))
            assert await changed(opened) == [node.pk]

    scenario(scene)


def test_allocations_roles_and_releases_name_the_nodes_and_never_the_run(
    project: Project, make_run: MakeRun, charlie: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    run = make_run(project=project, name="secret recipe")
    node = Node.objects.get()

    async def scene() -> None:
        async with socket(POOL, charlie) as opened:
            frames = [await opened.frame()]
            for step in (
                lambda: allocate(holder=held_by(run.pk, 1), wanted=LaneSpec()),
                lambda: change_role(run_id=run.pk, attempt=1, name="rollout-0", role=LaneRole.TRAINER),
                lambda: release(run_id=run.pk, attempt=1),
            ):
                await doing(step)
                frames.append(await opened.frame())
            assert [frame["changed"] for frame in frames[1:]] == [[node.pk]] * 3
            assert "secret recipe" not in json.dumps(frames)
            assert str(run.pk) not in json.dumps(frames)

    scenario(scene)


def test_a_report_brings_live_values_in_columns(charlie: User) -> None:
    node = alive("gpu0")
    post_node(node, card("GPU-a", 0), card("GPU-b", 1))
    ids = list(Gpu.objects.order_by("index").values_list("pk", flat=True))

    async def scene() -> None:
        async with socket(POOL, charlie) as opened:
            await opened.frame()
            live = {"utilisation": 0.5, "memory_used_bytes": 7}
            await doing(lambda: post_node(node, card("GPU-a", 0, live=live), card("GPU-b", 1)))
            frame = await opened.frame()
            assert frame["gpus"]["ids"] == ids
            assert frame["gpus"]["values"]["utilisation"] == [0.5, None]
            assert frame["gpus"]["values"]["memory_used_bytes"] == [7, None]
            assert frame["nodes"]["values"] == {"load": [1.5], "memory_used_bytes": [2**30]}
            assert (len(frame["alive"]), frame["changed"]) == (1, [])
            assert abs(frame["now"] - frame["reported_at"]) < 30

    scenario(scene)


def test_a_burst_of_changes_is_one_frame_and_a_rolled_back_one_is_none(charlie: User) -> None:
    ensure_local_lanes(num_cpu_lanes=8)
    node = Node.objects.get()

    def allocate_often() -> None:
        for _ in range(2):
            assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec()) is not None
        # Eight lanes hold two runs of three; the third is granted nothing.
        assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec()) is None

    async def scene() -> None:
        async with socket(POOL, charlie) as opened:
            await opened.frame()
            await doing(allocate_often)
            frames = [await opened.frame()]
            while not await opened.receive_nothing(0.7):
                frames.append(await opened.frame())
            assert len(frames) <= 2
            assert {one for frame in frames for one in frame["changed"]} == {node.pk}

    scenario(scene)


def test_the_poll_finds_what_no_frame_told(charlie: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.1)
    ensure_local_lanes(num_cpu_lanes=2)
    post_node(alive("gpu0"), card("GPU-a", 0))
    gpu = Gpu.objects.get()

    async def next_change(opened: Socket) -> list[int]:
        while not (nodes := await changed(opened)):
            pass
        return nodes

    async def scene() -> None:
        async with socket(POOL, charlie) as opened:
            assert await changed(opened) is None
            await database_sync_to_async(Gpu.objects.update)(faults={"xids": {"79": 1}})
            assert await next_change(opened) == [gpu.node_id]
            local = await database_sync_to_async(Node.objects.get)(name="local")
            await database_sync_to_async(Lane.objects.filter(node=local).update)(state=ServiceState.CORDONED)
            assert await next_change(opened) == [local.pk]
            await database_sync_to_async(local.delete)()
            assert len(await next_change(opened)) == 1

    scenario(scene)


def test_a_removed_member_reads_everything_again(
    viewer: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.1)
    ensure_local_lanes(num_cpu_lanes=2)

    async def scene() -> None:
        async with socket(POOL, viewer) as opened:
            assert await changed(opened) is None
            assert await changed(opened) == []
            await database_sync_to_async(Membership.objects.filter(user=viewer).delete)()
            while (nodes := await changed(opened)) is not None:
                assert nodes == []

    scenario(scene)


def test_strangers_are_closed_with_4404(db: None) -> None:
    async def scene() -> None:
        async with socket(POOL, None) as opened:
            assert await opened.close_code() == 4404

    scenario(scene)
