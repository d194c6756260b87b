"""No malformed request, at any address, makes the server fail, work long or grow.

Each request is made from a seed, which the failure tells: `MalformedRequests.drawn` makes the same one again. Time is
that of the processor, of this process and of its PostgreSQL, so that a busy machine changes nothing.
"""

import os
import re
import resource
import secrets
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from accounts.api_tokens import TokenWish, create_token
from accounts.models import Membership, ProjectRole
from tests.web.every_address.malformed_request import Malformed
from tests.web.every_address.malformed_requests import OF_RUNS, OF_THE_POOL, MalformedRequests, readings_of
from tests.web.every_address.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3600)]
MAX_CPU_SECONDS = 1.0
MAX_GROWTH_KIB = 256 * 1024
"""Of the process over all requests: several bodies of the greatest size beside what is loaded on first use."""
PROBLEM = "application/problem+json"
STORED = {
    "runs": re.compile(r"/attempts/\d+/(events|artifacts)|/previews/[^/]+/(images/|done)"),
    "pool": re.compile(r"/nodes/reports|/gpu-tests/[^/]+/report"),
}
"""Where reports go, by what is read after one that was taken."""
TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def token(world: World) -> str:
    """Of a user who may do everything, so that requests get as far as they can."""
    user = world.users["administrator"]
    Membership.objects.create(project_id=world.values["project_id"], user=user, role=ProjectRole.OWNER)
    return create_token(user=user, wish=TokenWish())[1]


def cpu_seconds() -> float:
    """Of this process, and of the server's that works for it."""
    connection.ensure_connection()
    fields = Path(f"/proc/{connection.connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / TICKS


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def problem_of(request: Malformed, readings: dict[str, list[str]], num_read: int, token: str) -> str:
    """What is wrong with an answer; empty for good ones. What a machine's token got stored is read at some addresses,
    and all is undone."""
    place = transaction.savepoint()
    try:
        for one in (*request.before, request):
            began = cpu_seconds()
            found = answer(one)
            if problem := _problem_of(found, cpu_seconds() - began):
                return problem
        for kind, stored in STORED.items():
            is_taken = found.status_code < 300 and request.method in ("POST", "PUT") and stored.search(request.address)
            for address in Random(request.number).sample(readings[kind], num_read) if is_taken else ():
                headers = {"Authorization": f"Bearer {token}"}
                if said := _problem_of(answer(Malformed(number="", method="GET", address=address, headers=headers))):
                    return f"then {address} fails: {said}"
        return ""
    finally:
        # What failed may have left the transaction as one that is not gone on with.
        transaction.set_rollback(False)
        transaction.savepoint_rollback(place)


def answer(request: Malformed) -> Any:
    client = Client(raise_request_exception=False)
    found: Any = client.generic(
        request.method,
        request.address,
        request.body,
        content_type=request.content_type,
        headers=dict(request.headers),
    )
    if found.streaming:
        b"".join(found.streaming_content)
    return found


def _problem_of(found: Any, seconds: float = 0.0) -> str:
    if found.status_code >= 500:
        error = found.exc_info[1] if getattr(found, "exc_info", None) else found.content[:300]
        return f"{found.status_code}: {error!r:.600}"
    if seconds > MAX_CPU_SECONDS:
        return f"{seconds:.2f} s"
    is_api = found.wsgi_request.path.startswith("/api/")
    if found.status_code >= 400 and is_api and found.headers.get("Content-Type") != PROBLEM:
        return f"{found.status_code} as {found.headers.get('Content-Type')}"
    return ""


# The few of `make test` are the same each time; those of `make test-full` are others.
@pytest.mark.parametrize(
    ("num_requests", "num_read", "seed"),
    [(100, 2, "few"), pytest.param(10_000, 10, "", marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_no_malformed_request_makes_the_server_fail(
    world: World, token: str, settings: Any, num_requests: int, num_read: int, seed: str
) -> None:
    settings.TANDEM_REQUESTS_PER_MINUTE = 10**9
    seed = seed or os.environ.get("TANDEM_SEED") or secrets.token_hex(4)
    drawn = MalformedRequests(world, token)
    readings = {"runs": readings_of(world, OF_RUNS), "pool": readings_of(world, OF_THE_POOL)}
    problem_of(drawn.drawn("first"), readings, 0, token)
    before = peak_kib()
    failed: Counter[str] = Counter()
    told: dict[str, Malformed] = {}
    for number in range(num_requests):
        request = drawn.drawn(f"{seed}-{number}")
        if problem := problem_of(request, readings, num_read, token):
            failed[problem] += 1
            told.setdefault(problem, request)
    assert not failed, "\n".join(f"{number} × {said}\n  {told[said]}" for said, number in failed.most_common(20))
    assert peak_kib() - before < MAX_GROWTH_KIB
