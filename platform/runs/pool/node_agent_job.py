"""Keeps a node agent at work: one job on the cluster that reports its nodes.

newest agent reported a short while ago            ─► well
             has not, but its job may still start  ─► wait
             otherwise                             ─► its job is stopped, and another is submitted

On one machine without GPUs there is nothing to report but the size of its object store, which is read from Ray's list,
and its memory and the room for embeddings on its disk, which are this process's too, since `up` has made its lanes. An
agent would take a sixth of the idle stack's memory: it starts with the first GPU or the first further node.
"""

import logging
import os
import time
from datetime import datetime, timedelta
from functools import cache

import psutil
from django.conf import settings
from django.utils import timezone

from fleet.lane_layout import LOCAL_NODE
from fleet.models import Node, NodeAgent
from fleet.reports.node_agents import new_agent
from fleet.reports.report_intake import keep_rooms
from runs.cluster import ClusterGateway, ClusterUnavailable, RayNode
from worker.contracts.embedding_room import FOLDER_VARIABLE, EmbeddingRoom
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.node"
SILENCE = timedelta(seconds=30)
"""Without a report for so long an agent counts as lost: it reports every 3 s, and a report may take seconds on a busy
head."""
START = timedelta(seconds=90)
"""How long an agent may take from its submission to its first report: Ray sends it the code and starts its process."""


def keep_agent(gateway: ClusterGateway) -> bool:
    """Start an agent where none is at work; returns whether one was started."""
    now = timezone.now()
    newest = NodeAgent.objects.order_by("-created_at").first()
    if newest is not None and _may_still_report(newest, now):
        return False
    try:
        nodes = gateway.nodes()
        if not _pool_has_others() and all(_is_described(node) for node in nodes):
            for node in nodes:
                keep_rooms(node.label, object_store_bytes=node.object_store_bytes, **_rooms_of_this_machine())
            return False
    except ClusterUnavailable as error:
        logger.warning("Ray's nodes are not known: %s", error)
        return False
    agent, code = new_agent()
    env = {BOOTSTRAP_CODE_VARIABLE: code, PUBLIC_URL_VARIABLE: settings.TANDEM_PUBLIC_URL}
    try:
        if newest is not None:
            gateway.stop(submission_id(newest))
        gateway.submit(submission_id(agent), env, entrypoint=ENTRYPOINT)
    except ClusterUnavailable as error:
        logger.warning("no node agent was started: %s", error)
        # Should the job run nevertheless, its code is not known any more, and it ends.
        agent.delete()
        return False
    return True


def _rooms_of_this_machine() -> dict[str, int | None]:
    memory = psutil.virtual_memory()
    return {
        "embeddings_room_bytes": _embedding_room().num_bytes(time.monotonic()),
        "memory_bytes": memory.total,
        "memory_used_bytes": memory.total - memory.available,
    }


@cache
def _embedding_room() -> EmbeddingRoom:
    return EmbeddingRoom({**os.environ, FOLDER_VARIABLE: settings.TANDEM_EMBEDDINGS})


def _is_described(node: RayNode) -> bool:
    """Whether `up` has made all that the pool has of the node."""
    return node.label == LOCAL_NODE and not node.has_gpus


def _pool_has_others() -> bool:
    """Whether the pool counts on other nodes, of which somebody must say that they are gone."""
    return Node.objects.filter(lost_since=None).exclude(name=LOCAL_NODE).exists()


def submission_id(agent: NodeAgent) -> str:
    return f"tandem-nodes-{agent.pk}"


def _may_still_report(agent: NodeAgent, now: datetime) -> bool:
    if agent.reported_at is not None:
        return now - agent.reported_at < SILENCE
    return now - agent.created_at < START
