"""A node agent is always at work: one, started again when it falls silent, and never two that both count."""

from datetime import timedelta

import pytest
from django.utils import timezone

from fleet.lane_layout import ensure_local_lanes
from fleet.models import NodeAgent
from fleet.node_rooms import embedding_rooms, host_rooms, rooms_of_nodes
from runs.cluster import RayNode
from runs.pool.node_agent_job import ENTRYPOINT, SILENCE, START, keep_agent, submission_id
from tests.web.fake_cluster import FakeCluster
from tests.web.fleet.node_posts import alive, post_node
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE
from worker.contracts.lanes import DEFAULT_POOL

pytestmark = pytest.mark.django_db


def newest() -> NodeAgent:
    return NodeAgent.objects.order_by("-created_at")[0]


def age(agent: NodeAgent, **times: timedelta) -> None:
    NodeAgent.objects.filter(pk=agent.pk).update(**{field: timezone.now() - past for field, past in times.items()})


def test_the_first_look_starts_an_agent_with_a_code_of_its_own(cluster: FakeCluster) -> None:
    assert keep_agent(cluster)
    job = submission_id(newest())
    assert cluster.entrypoints[job] == ENTRYPOINT
    assert cluster.envs[job][BOOTSTRAP_CODE_VARIABLE].startswith(f"{newest().pk}.")


def test_an_agent_that_starts_or_reports_is_left_alone(cluster: FakeCluster) -> None:
    keep_agent(cluster)
    assert not keep_agent(cluster)
    age(newest(), created_at=2 * START, reported_at=SILENCE / 2)
    assert not keep_agent(cluster)
    assert len(cluster.jobs) == 1


@pytest.mark.parametrize("times", [{"created_at": 2 * START}, {"created_at": 2 * START, "reported_at": 2 * SILENCE}])
def test_a_silent_agent_is_stopped_and_followed(cluster: FakeCluster, times: dict[str, timedelta]) -> None:
    keep_agent(cluster)
    first = newest()
    age(first, **times)
    assert keep_agent(cluster)
    assert cluster.stopped == [submission_id(first)]
    assert newest().pk != first.pk


@pytest.mark.parametrize(
    ("alive", "starts"),
    [
        ((), False),
        ((RayNode("local", has_gpus=False),), False),
        ((RayNode("local", has_gpus=True),), True),
        ((RayNode("", has_gpus=False),), True),
        ((RayNode("local", has_gpus=False), RayNode("gpu0", has_gpus=False)), True),
    ],
)
def test_an_agent_starts_where_there_is_something_that_the_web_does_not_know(
    cluster: FakeCluster, alive: tuple[RayNode, ...], starts: bool
) -> None:
    cluster.alive = alive
    assert keep_agent(cluster) is starts


def test_the_store_and_the_memory_of_a_machine_without_an_agent_are_known(cluster: FakeCluster) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    cluster.alive = (RayNode("local", has_gpus=False, object_store_bytes=10**9),)
    assert not keep_agent(cluster)
    (room,) = rooms_of_nodes(DEFAULT_POOL)
    assert (room.name, room.num_lanes, room.object_store_bytes) == ("local", 2, 10**9)
    assert (embedding_rooms(DEFAULT_POOL)["local"] or 0) > 0, "the disk is this machine's"
    (memory,) = host_rooms(DEFAULT_POOL)
    assert (memory.node, memory.num_lanes) == ("local", 2)
    assert 0 < memory.used_bytes < memory.memory_bytes, "so is the memory"


def test_an_agent_starts_to_say_that_nodes_are_gone(cluster: FakeCluster) -> None:
    cluster.alive = (RayNode("local", has_gpus=False),)
    post_node(alive("gpu0"))
    NodeAgent.objects.all().delete()
    assert keep_agent(cluster)


def test_a_cluster_that_is_away_is_tried_again(cluster: FakeCluster) -> None:
    cluster.away = True
    assert not keep_agent(cluster)
    cluster.away = False
    assert keep_agent(cluster)
