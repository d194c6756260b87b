"""Node agents: their single-use codes, their tokens, and which of them counts.

Invariant: a code is accepted once, within five minutes; only hashes of codes and tokens are stored; the newest agent
that has used its code is the one whose reports are taken.
"""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.secrets import hash_secret, matches, new_secret
from fleet.models import Node, NodeAgent
from fleet.reports.report_intake import names_by_ray_id
from worker.contracts.node_reports import AgentBootstrapAnswer

CODE_LIFETIME = timedelta(minutes=5)
NUM_KEPT = 20
"""Records of earlier agents, to see how often it was started."""


class AgentRefused(Exception):
    """The code or token is not known, used or expired: 401."""


class AgentFollowed(Exception):
    """A newer agent reports: 410, and this one exits."""


def new_agent() -> tuple[NodeAgent, str]:
    """An agent to be started, and the code that it is given."""
    code = new_secret()
    agent = NodeAgent.objects.create(code_hash=hash_secret(code), code_expires_at=timezone.now() + CODE_LIFETIME)
    kept = NodeAgent.objects.order_by("-created_at").values_list("pk", flat=True)[:NUM_KEPT]
    NodeAgent.objects.exclude(pk__in=list(kept)).delete()
    return agent, f"{agent.pk}.{code}"


@transaction.atomic
def trade_code(code: str) -> AgentBootstrapAnswer:
    """Exchange the code for a token and the names of known nodes. Raises `AgentRefused`."""
    key, _, secret = code.partition(".")
    agent = _found(key)
    if agent is None or not matches(secret, agent.code_hash):
        raise AgentRefused("the code is not known")
    now = timezone.now()
    used = NodeAgent.objects.filter(pk=agent.pk, code_used_at=None, code_expires_at__gt=now)
    token = new_secret()
    if not used.update(code_used_at=now, token_hash=hash_secret(token)):
        raise AgentRefused("the code was used before or has expired: it is good once, for five minutes")
    return AgentBootstrapAnswer(session=agent.pk, token=token, names=names_by_ray_id(Node.objects.all()))


def authorise(token: str, session: str) -> NodeAgent:
    """The agent that the token belongs to. Raises `AgentRefused`, `AgentFollowed`."""
    agent = _found(session)
    if agent is None or not matches(token, agent.token_hash):
        raise AgentRefused("the token is not good for this agent")
    newer = NodeAgent.objects.filter(created_at__gt=agent.created_at).exclude(code_used_at=None)
    if newer.exists():
        raise AgentFollowed("a newer agent reports")
    return agent


def _found(key: str) -> NodeAgent | None:
    try:
        return NodeAgent.objects.filter(pk=UUID(key)).first()
    except ValueError:
        return None
