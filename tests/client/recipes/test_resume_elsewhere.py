"""Resume elsewhere: the run stops with a checkpoint, and its fork starts from there in another pool."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, Node, Pool
from fleet.pools.annotate import annotate
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.client.recipes.served_application import Served

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_pools(admin: User) -> None:
    for name in ("n0", "n1"):
        ensure_local_lanes(num_cpu_lanes=4, node=name)
    Pool.objects.create(name="h100", order=1, match_labels={"model": "h100"})
    annotate(user=admin, on=Node.objects.get(name="n1"), labels={"model": "h100"})


def test_a_fork_goes_on_from_the_checkpoint_in_the_other_pool(
    served: Served,
    two_pools: None,
    reader_as: Callable[..., Reader],
    alice: User,
    run: Run,
    report: Callable[..., None],
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.TANDEM_CHECKPOINTS = f"file://{tmp_path}"
    Run.objects.filter(pk=run.pk).update(name="my_run")
    saved = tmp_path / str(run.pk) / "attempt-1" / "batch-000001"
    saved.mkdir(parents=True)
    page, reader = read_page("resume_elsewhere"), reader_as(alice, scopes=frozenset({"read", "run"}))
    reader.fill_in(page)
    move, resume = page.pasted
    moving = reader.begin(move)
    served.wait_until(lambda: Run.objects.get(pk=run.pk).state == "stopping")
    place = {"batch": 1, "policy_version": 1, "optimizer_step": 4}
    with served.alone:
        report(
            {"type": "checkpoint", **place, "uri": f"file://{saved}", "num_bytes": 9},
            {"type": "state", "state": "stopped"},
        )
    assert reader.end(moving) == "my_run on h100 goes on from batch 1\n"

    fork = Run.objects.exclude(pk=run.pk).get()
    assert (fork.parent_id, fork.resume_from, fork.pool) == (run.pk, f"file://{saved}", "h100")
    assert dispatch_waiting() == [fork.pk]
    assert set(Lane.objects.filter(run_id=fork.pk).values_list("node__name", flat=True)) == {"n1"}

    reader.paste(resume)
    run.refresh_from_db()
    assert (run.state, run.resume_batch) == ("queued", 1)
