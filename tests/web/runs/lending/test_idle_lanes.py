"""GPUs that a run holds and does not use are told of, and taken back where the pool's policy says so."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.models import Gpu, Lane, Pool
from fleet.shares.pool_policies import set_policy
from runs.lending.idle_lanes import release_idle_lanes
from runs.models import Attempt, PendingCommand, Run, RunResize
from runs.selectors import run_body_for
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.commands import CommandKind
from worker.contracts.resizing import ResizeCause, ResizeState
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
LiveRun = Callable[..., Attempt]
NUM_GPUS = 4


@pytest.fixture
def start(live_run: LiveRun, project: Project, alice: User) -> Callable[..., Attempt]:
    """A run that generates on three GPUs and trains on one."""

    def make(**elastic: int) -> Attempt:
        post_node(alive("gpu0"), *(card(f"GPU-{number}", number) for number in range(NUM_GPUS)))
        spec = RunSpec.model_validate(
            {
                "prompts": {"inline": ["a", "b", "c"]},
                "rewards": [{"name": "shape_match"}],
                "batch": {"num_prompts_per_batch": 2, "group_size": 2},
                "num_batches": 2,
                "lanes": {"num_rollout": 3, "num_trainer": 1},
                "elastic": elastic,
            }
        )
        return live_run(spec=spec, project=project, created_by=alice)

    return make


@pytest.fixture
def release_after(make_user: Callable[..., User]) -> Callable[[int | None], None]:
    admin = make_user("pool-admin", is_pool_admin=True)

    def set_minutes(minutes: int | None) -> None:
        set_policy(user=admin, pool=Pool.objects.get(), changes={"idle_release_minutes": minutes})

    return set_minutes


def idle_for(minutes: int, *lanes: str) -> None:
    """The GPUs of these lanes of the run have done nothing for so long."""
    for lane in Lane.objects.filter(name_in_run__in=lanes):
        since = timezone.now() - timedelta(minutes=minutes)
        Lane.objects.filter(pk=lane.pk).update(held_since=since)
        Gpu.objects.filter(lane=lane).update(held_for=since, idle_since=since)


ALL = ("rollout-0", "rollout-1", "rollout-2", "trainer-0")


def test_the_run_says_so_when_its_gpus_have_done_nothing_for_long(
    start: Callable[..., Attempt], release_after: Callable[[int | None], None], alice: User
) -> None:
    run = start().run
    idle_for(29, "rollout-0")
    assert run_body_for(alice, run)["warning"] == ""
    idle_for(31, "rollout-0", "rollout-2")
    told = run_body_for(alice, run)["warning"]
    assert told.startswith("2 GPUs of this run (rollout-0, rollout-2) have done nothing since")
    assert "taken back" not in told
    release_after(45)
    told = run_body_for(alice, run)["warning"]
    end = Gpu.objects.exclude(idle_since=None).earliest("idle_since").idle_since
    assert end is not None
    assert told.endswith(f"by the pool's policy they are taken back at {end + timedelta(minutes=45):%H:%M}")
    assert run_body_for(alice, Run.objects.get(pk=run.pk))["warning"] == told, "of a run that was read whole, too"


def test_without_a_policy_nothing_is_taken(start: Callable[..., Attempt]) -> None:
    start(min_rollout=1)
    idle_for(10_000, *ALL)
    assert release_idle_lanes() == 0
    assert not PendingCommand.objects.exists()


def test_an_elastic_run_gives_up_idle_lanes_down_to_its_least(
    start: Callable[..., Attempt], release_after: Callable[[int | None], None]
) -> None:
    start(min_rollout=2)
    release_after(45)
    idle_for(44, "rollout-0", "rollout-2")
    assert release_idle_lanes() == 0
    idle_for(46, "rollout-0", "rollout-2")
    assert [release_idle_lanes(), release_idle_lanes()] == [1, 0]
    (resize,) = RunResize.objects.all()
    assert (resize.cause, resize.requested_by) == (ResizeCause.IDLE, None)
    (command,) = PendingCommand.objects.all()
    assert command.args["resize"]["release"] == ["rollout-2"], "one of the two, since two lanes must generate"


def test_a_gang_is_not_taken_apart(start: Callable[..., Attempt], release_after: Callable[[int | None], None]) -> None:
    start()
    release_after(45)
    idle_for(46, "trainer-0", "rollout-1")
    assert release_idle_lanes() == 0


def test_a_run_whose_gpus_all_do_nothing_is_paused_once(
    start: Callable[..., Attempt], release_after: Callable[[int | None], None]
) -> None:
    attempt = start(min_rollout=1)
    release_after(45)
    idle_for(46, *ALL)
    assert [release_idle_lanes(), release_idle_lanes()] == [1, 0]
    (command,) = PendingCommand.objects.all()
    assert (command.kind, command.created_by) == (CommandKind.PAUSE, None)
    (entry,) = AuditEntry.objects.filter(action="run.pause")
    assert (entry.actor, entry.object_id) == ("idle policy", str(attempt.run_id))


@pytest.mark.parametrize("state", [RunState.PAUSED, RunState.STOPPING])
def test_a_run_that_is_paused_or_stops_is_left_to_itself(
    start: Callable[..., Attempt], release_after: Callable[[int | None], None], state: RunState
) -> None:
    run = start().run
    Run.objects.filter(pk=run.pk).update(state=state.value)
    release_after(45)
    idle_for(46, *ALL)
    assert release_idle_lanes() == 0


def test_a_resize_under_way_is_waited_for(
    start: Callable[..., Attempt], release_after: Callable[[int | None], None]
) -> None:
    attempt = start(min_rollout=1)
    release_after(45)
    idle_for(46, "rollout-2")
    RunResize.objects.create(run=attempt.run, attempt=1, cause=ResizeCause.USER.value, state=ResizeState.ACCEPTED.value)
    assert release_idle_lanes() == 0
