"""Elastic runs at work, as tests of lending need them: with a driver, lanes of their project and measured costs."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from accounts.models import Project
from accounts.secrets import hash_secret
from fleet.models import LaneLoan, ProjectShare
from fleet.services import LaneHolder, allocate
from runs.attempts import attempts
from runs.models import Attempt, MeasuredCosts, Run, RunResize
from runs.planning.auto_placement import ResolvedPlacement
from runs.reports import driver_reports
from worker.contracts.lane_events import LanesEvent
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneProgress, LaneStep, ResizeCause, ResizeReport, ResizeState
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

MakeRun = Callable[..., Run]


def elastic_spec(**sections: Any) -> RunSpec:
    """8 × 4 trajectories in 16 fragments, one lane of each role, up to four rollout and two reward lanes."""
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 8, "group_size": 4, "fragment_size": 2, "micro_batch_size": 4},
            "num_batches": 1000,
            "elastic": {"max_rollout": 4, "max_reward": 2},
            **sections,
        }
    )


def at_work(make_run: MakeRun, project: Project, spec: RunSpec | None = None) -> Attempt:
    """A running attempt that holds lanes for its project; the pool must have them."""
    run = make_run(project=project, spec=spec or elastic_spec(), state=RunState.RUNNING.value)
    attempt = attempts.mint(run, 1, ResolvedPlacement(run.run_spec))
    holder = LaneHolder(run_id=run.pk, attempt=1, project_id=project.pk, user_id=None)
    assert allocate(holder=holder, wanted=run.run_spec.granted_lanes), "too few lanes in the pool"
    now = timezone.now()
    Attempt.objects.filter(pk=attempt.pk).update(submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret("t"))
    Run.objects.filter(pk=run.pk).update(last_heartbeat_at=now)
    return Attempt.objects.select_related("run").get(pk=attempt.pk)


def measure(attempt: Attempt, *, generate: float = 1.0, train: float = 0.01, score: float = 0.001) -> None:
    """The run reports what its work costs, in seconds of a trajectory, a micro-batch and a picture, and that a lane
    takes 5 s to start."""
    costs = [
        ("rollout-0", "generate", generate, 2),
        ("rollout-0", "pull", 0.1, 1),
        ("trainer-0", "accumulate", train, 1),
        ("reward-0", "score", score, 2),
        ("gang", "start", 5.0, 1),
    ]
    MeasuredCosts.objects.update_or_create(
        run=attempt.run,
        defaults={
            "devices": "cpu",
            "num_batches": 5,
            "costs": [
                {
                    "lane": lane,
                    "kind": kind,
                    "per_call": 0.0,
                    "per_unit": seconds,
                    "observed_units": [size, size],
                    "relative_error": 0.01,
                }
                for lane, kind, seconds, size in costs
            ],
        },
    )


def report(resize: RunResize, state: ResizeState, steps: dict[str, LaneStep], *, dropped: int = 0) -> None:
    """The run's driver reports how far a resize is."""
    lanes = tuple(LaneProgress(lane=lane, role=None, step=step, num_dropped=dropped) for lane, step in steps.items())
    if any(step is LaneStep.JOINED for step in steps.values()):
        lanes = tuple(each.model_copy(update={"role": LaneRole(each.lane.partition("-")[0])}) for each in lanes)
    found = ResizeReport(id=str(resize.pk), cause=ResizeCause(resize.cause), state=state, lanes=lanes)
    run = Run.objects.get(pk=resize.run_id)
    event = LanesEvent(seq=1, at=0.0, lanes=(), algebra=run.batch_algebra, resize=found)
    driver_reports.apply_event(resize.run_id, resize.attempt, event)


def join(attempt: Attempt) -> RunResize:
    """The lanes that the run was lent last join it."""
    row = RunResize.objects.filter(run=attempt.run, cause=ResizeCause.BORROW).latest("created_at")
    report(row, ResizeState.DONE, dict.fromkeys(row.added, LaneStep.JOINED))
    return row


def set_share(project: Project, guaranteed: int = 0, limit: int | None = None) -> None:
    """The project's lanes of the default pool."""
    ProjectShare.objects.update_or_create(
        project=project, pool_id=DEFAULT_POOL, defaults={"guaranteed_lanes": guaranteed, "max_lanes": limit}
    )


def lent(attempt: Attempt) -> list[str]:
    """Names of the lanes that the run has on loan."""
    return sorted(LaneLoan.objects.filter(run_id=attempt.run_id, until=None).values_list("name_in_run", flat=True))
