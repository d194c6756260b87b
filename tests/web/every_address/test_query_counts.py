"""No answer asks the database more often because there is more in it."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.web.every_address.matrix import ACTORS, LEVEL_OF, expected
from tests.web.every_address.more_rows import copy_every_row
from tests.web.every_address.world import World

pytestmark = pytest.mark.django_db
NUM_COPIES = 3
COPIED = {
    *("accounts.ApiToken", "audit.AuditEntry", "catalog.PromptSet", "catalog.Secret", "fleet.Gpu", "fleet.GpuTest"),
    *("fleet.Lane", "fleet.Node", "gallery.Adapter", "gallery.Artifact", "gallery.Preview", "hooks.Delivery"),
    *("hooks.Webhook", "runs.Attempt", "runs.Run", "runs.SavedView", "runs.Sweep", "runs.SweepPoint"),
    *("runs.SweepRun", "telemetry.SpanRow"),
}
"""Models of which there must be more, lest the test count nothing."""
READS = {request: expected(level) for request, level in LEVEL_OF.items() if request.startswith("get ")}


def num_queries(world: World, request: str, actor: str, *, is_first: bool) -> int:
    client = world.client(actor)
    if is_first:
        # What is kept in the process, as the content types, is read once.
        client.get(world.address(request.removeprefix("get "), actor))
    with CaptureQueriesContext(connection) as queries:
        client.get(world.address(request.removeprefix("get "), actor))
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_rows(world: World) -> None:
    asked = [
        (request, next(actor for actor in ("owner", "administrator", *ACTORS) if answers[actor] == "in"))
        for request, answers in READS.items()
        if "in" in answers.values()
    ]
    before = {request: num_queries(world, request, actor, is_first=True) for request, actor in asked}
    place = transaction.savepoint()
    assert copy_every_row(NUM_COPIES).keys() >= COPIED
    assert len(world.client("owner").get("/api/v1/runs").json()["results"]) == 1 + NUM_COPIES
    after = {request: num_queries(world, request, actor, is_first=False) for request, actor in asked}
    transaction.savepoint_rollback(place)
    grown = {request: (before[request], after[request]) for request, _ in asked if after[request] > before[request]}
    assert grown == {}
