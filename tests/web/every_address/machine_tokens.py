"""Tokens of the machines of a world: the node agent's, and those of the jobs that test a GPU and draw a preview."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from accounts.secrets import hash_secret
from fleet.models import GpuTest, GpuTestState, NodeAgent
from gallery.models import Preview, PreviewState
from tests.web.every_address.world import World
from worker.contracts.node_reports import AGENT_HEADER

TOKEN = "token-of-a-machine"


def machine_headers(world: World) -> Mapping[str, Mapping[str, str]]:
    """What each sends, by `agent`, `gpu test` and `preview`; from now on those of the world are at work."""
    now, hashed = timezone.now(), hash_secret(TOKEN)
    agent = NodeAgent.objects.create(code_hash="", code_expires_at=now, code_used_at=now, token_hash=hashed)
    of_test = {"state": GpuTestState.RUNNING, "started_at": now, "code_used_at": now, "token_hash": hashed}
    GpuTest.objects.filter(pk=world.values["test_id"]).update(**of_test)
    of_preview = {"state": PreviewState.RUNNING, "deadline": now + timedelta(days=1), "token_hash": hashed}
    Preview.objects.filter(pk=world.values["preview_id"]).update(**of_preview)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    return {"agent": bearer | {AGENT_HEADER: str(agent.pk)}, "gpu test": bearer, "preview": bearer}
