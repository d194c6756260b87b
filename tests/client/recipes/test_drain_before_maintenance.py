"""Drain before maintenance: the node empties at its time, and the run goes on elsewhere from its checkpoint."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, Node, ServiceState
from runs.attempts.reconciler import Reconciler
from runs.models import Attempt, PendingCommand, Run
from runs.queue.dispatch import dispatch_waiting
from runs.resizing.draining import move_runs_off
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.client.recipes.served_application import Served

pytestmark = pytest.mark.django_db


def held_on(node: str) -> int:
    return Lane.objects.filter(node__name=node).exclude(run_id=None).count()


def test_a_node_is_empty_by_its_time_and_its_run_goes_on(
    served: Served,
    reader_as: Callable[..., Reader],
    admin: User,
    live_run: Callable[..., Attempt],
    reconciler: Reconciler,
    project: Project,
    alice: User,
) -> None:
    run = live_run(project=project, created_by=alice).run
    page, reader = read_page("drain_before_maintenance"), reader_as(admin, scopes=frozenset({"read", "pool"}))
    empty_by = (datetime.now() + timedelta(hours=1)).replace(microsecond=0)
    reader.fill_in(page, {"NODE": "local", "EMPTY_BY": empty_by.isoformat()})
    drain, wait, give_back = page.pasted
    reader.paste(drain)
    node = Node.objects.get(name="local")
    assert (node.state, node.reason, node.state_until) == (ServiceState.DRAINING, "new fans", empty_by.astimezone())

    waiting = reader.begin(wait)
    with served.alone:
        assert (move_runs_off(), held_on("local")) == (0, 3), "no lane is free elsewhere, and the run works on"
        Node.objects.filter(pk=node.pk).update(state_until=timezone.now() - timedelta(seconds=1))
        move_runs_off()
        Run.objects.filter(pk=run.pk).update(resume_from="file:///checkpoints/7", resume_batch=7)
        PendingCommand.objects.update(done_at=timezone.now(), accepted=True)
        assert waiting.poll() is None
        assert move_runs_off() == 1
        # One round ends the driver's job, the next frees its lanes.
        reconciler.tick()
        reconciler.tick()
        assert held_on("local") == 0
    reader.end(waiting)

    ensure_local_lanes(num_cpu_lanes=3, node="other")
    dispatch_waiting()
    run.refresh_from_db()
    assert (held_on("other"), held_on("local"), run.resume_batch) == (3, 0, 7)
    assert reader.paste(give_back) == "local is available.\n"
