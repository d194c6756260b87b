"""A pool of any size in a real database, made by what makes it in earnest: reports of a node agent, allocations to
runs, actions of a pool admin. Django must be set up before this is imported.

Every eighth node has A100 cards, every sixteenth L40S and RTX 4090 side by side, all others H100. Two thirds of the GPU
lanes are held, by runs of a project of the admin's and of one that only another user may see.
"""

import random
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore

from accounts.models import Project, User
from accounts.services import create_project
from fleet.health.upkeep import PoolAction, act_on_all
from fleet.models import Gpu, Lane, LaneKind, Node, NodeAgent
from fleet.reports.node_agents import new_agent, trade_code
from fleet.reports.report_intake import take
from fleet.services import LaneHolder, allocate
from runs.services import create_run
from worker.contracts.lanes import LaneSpec
from worker.contracts.node_reports import (
    AGENT_HEADER,
    ClusterNode,
    GpuFaults,
    GpuIdentity,
    GpuLive,
    GpuReport,
    GpuTopology,
    NodeReport,
    NodeReports,
    Vendor,
)

GIB = 2**30
NUM_CPU_LANES = 4
LANES_OF_A_RUN = 8
HELD_SHARE = 2 / 3
CARDS = {
    "NVIDIA H100 80GB HBM3": (80, "Hopper", "9.0", 700.0, True),
    "NVIDIA A100-SXM4-80GB": (80, "Ampere", "8.0", 400.0, True),
    "NVIDIA L40S": (48, "Ada Lovelace", "8.9", 350.0, False),
    "NVIDIA GeForce RTX 4090": (24, "Ada Lovelace", "8.9", 450.0, False),
}
"""By model: memory in GiB, architecture, compute capability, power limit in watts, whether it has NVLink."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """What a client of the seeded pool needs."""

    session: dict[str, str]
    """The session cookie of a pool admin."""
    agent_headers: dict[str, str]


def models_of(node: int, num_gpus: int) -> list[str]:
    """The models of a node's cards, by index."""
    h100, a100, l40s, rtx = CARDS
    if node % 16 == 15:
        return [l40s] * (num_gpus // 2) + [rtx] * (num_gpus - num_gpus // 2)
    return [a100 if node % 8 == 7 else h100] * num_gpus


def node_reports(num_nodes: int, num_gpus: int, number: int) -> NodeReports:
    """Post `number` of an agent that watches all nodes; every value differs from that of the post before."""
    chance = random.Random(number)
    alive = tuple(
        ClusterNode(
            name=f"gpu{node:02d}", ray_node_id=f"ray-{node}", address=_address(node), num_cpu_lanes=NUM_CPU_LANES
        )
        for node in range(num_nodes)
    )
    return NodeReports(
        alive=alive,
        head_address="10.0.0.1:6379",
        nodes=tuple(_node_report(node, num_gpus, chance) for node in range(num_nodes)),
    )


def _address(node: int) -> str:
    return f"10.0.{node // 250}.{node % 250 + 2}"


def _uuid(node: int, index: int) -> str:
    return f"GPU-{node:08x}-0000-4000-8000-{index:012x}"


def _node_report(node: int, num_gpus: int, chance: random.Random) -> NodeReport:
    return NodeReport(
        ray_node_id=f"ray-{node}",
        at=0.0,
        num_cpus=128,
        memory_bytes=1024 * GIB,
        memory_used_bytes=chance.randrange(100 * GIB, 900 * GIB),
        load=round(chance.uniform(1, 90), 2),
        gpus=tuple(
            _gpu_report(node, index, num_gpus, model, chance) for index, model in enumerate(models_of(node, num_gpus))
        ),
    )


def _gpu_report(node: int, index: int, num_gpus: int, model: str, chance: random.Random) -> GpuReport:
    memory_gib, architecture, capability, power_limit, has_nvlink = CARDS[model]
    # One card in ten idles, whoever holds it.
    idles = (node * num_gpus + index) % 10 == 3
    share = 0.0 if idles else round(chance.uniform(0.4, 1.0), 2)
    peers = tuple(_uuid(node, other) for other in range(num_gpus) if other != index) if has_nvlink else ()
    has_faults = (node, index) == (1, 2)
    return GpuReport(
        identity=GpuIdentity(
            uuid=_uuid(node, index),
            index=index,
            vendor=Vendor.NVIDIA,
            model=model,
            architecture=architecture,
            compute_capability=capability,
            memory_bytes=memory_gib * GIB,
            pci_address=f"00000000:{16 * index + 1:02x}:00.0",
            driver="570.86.15",
            runtime="12.8",
            max_sm_clock=1980.0,
        ),
        topology=GpuTopology(numa_node=index // 4, nvlink_peers=peers),
        live=GpuLive(
            utilisation=share,
            memory_used_bytes=chance.randrange(memory_gib * GIB),
            temperature=float(chance.randrange(35, 85)),
            memory_temperature=float(chance.randrange(40, 95)),
            power=round(power_limit * max(0.15, share), 1),
            power_limit=power_limit,
            energy_joules=float(chance.randrange(10**9)),
            sm_clock=float(chance.randrange(1200, 1980)),
            memory_clock=2619.0,
            num_processes=0 if idles else 1,
        ),
        faults=GpuFaults(
            xids={63: 2} if has_faults else {},
            ecc_corrected=4 if has_faults else 0,
            ecc_uncorrected=0,
            remapped_rows=1 if has_faults else 0,
            remap_pending=has_faults,
            pcie_replays=0,
        ),
    )


def seed(num_nodes: int, num_gpus: int) -> Seeded:
    """Users, an agent, nodes, runs that hold lanes, and some nodes and GPUs that take no work."""
    admin = User.objects.create_user("admin", is_pool_admin=True)
    agent, code = new_agent()
    answer = trade_code(code)
    take(NodeAgent.objects.get(pk=agent.pk), node_reports(num_nodes, num_gpus, 0))
    projects = [
        create_project(user=admin, name="Shapes"),
        create_project(user=User.objects.create_user("bob"), name="X"),
    ]
    num_runs = int(Lane.objects.filter(kind=LaneKind.GPU).count() * HELD_SHARE) // LANES_OF_A_RUN
    for number in range(num_runs):
        _start_run(projects[number % 2], number)
    _keep_back(admin, num_nodes)
    return Seeded(
        session=session_of(admin),
        agent_headers={"Authorization": f"Bearer {answer.token}", AGENT_HEADER: str(answer.session)},
    )


def _start_run(project: Project, number: int) -> None:
    """A run that holds its lanes as if it had been dispatched."""
    owner = User.objects.get(memberships__project=project)
    document: dict[str, Any] = {
        "prompts": {"inline": ["a red square", "a blue circle"]},
        "rewards": [{"name": "shape_match"}],
        "batch": {"num_prompts_per_batch": 2, "group_size": 2},
        "num_batches": 2,
    }
    run = create_run(user=owner, project=project, name=f"sweep {number}", spec=document)
    wanted = LaneSpec(num_rollout=LANES_OF_A_RUN - 2, num_trainer=2, num_reward=1)
    holder = LaneHolder(run_id=run.pk, attempt=1, project_id=project.pk, user_id=owner.pk)
    if allocate(holder=holder, wanted=wanted) is None:
        raise RuntimeError(f"the pool has no lanes left for run {number}")


def _keep_back(admin: User, num_nodes: int) -> None:
    """One node of a larger pool drains and one is cordoned, and so are some GPUs and a CPU lane."""
    nodes = list(Node.objects.all())
    if num_nodes >= 8:
        act_on_all(user=admin, nodes=[nodes[2].pk], action=PoolAction.DRAIN, reason="new cables")
        act_on_all(user=admin, nodes=[nodes[-2].pk], action=PoolAction.CORDON, reason="firmware")
    cards = Gpu.objects.filter(node=nodes[-1]).order_by("index")
    act_on_all(user=admin, gpus=[card.pk for card in cards[:2]], action=PoolAction.CORDON, reason="Xid 79")
    act_on_all(user=admin, gpus=[Gpu.objects.all()[0].pk], action=PoolAction.DRAIN, reason="too hot")
    cpu_lane = Lane.objects.filter(kind=LaneKind.CPU, run_id=None).first()
    if cpu_lane is not None:
        act_on_all(user=admin, lanes=[cpu_lane.pk], action=PoolAction.CORDON, reason="no memory left")


def session_of(user: User) -> dict[str, str]:
    """A session cookie of the user."""
    session = SessionStore()
    session["_auth_user_id"] = str(user.pk)
    session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
    session["_auth_user_hash"] = user.get_session_auth_hash()
    session.create()
    return {settings.SESSION_COOKIE_NAME: str(session.session_key)}
