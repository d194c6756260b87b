"""What lending and asking back cost the web: a round of lending, a notice, and the way from a lane's return to the run
that waits for it. Django must be set up before this is imported.

What a driver adds, from the notice to the return, depends on the run's fragments and is bounded by the pool's policy;
`tests/e2e/own_pool/test_lending_between_runs.py` measures it on real Ray.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

from accounts.models import Project, User
from fleet.models import Lane, LaneKind, LaneLoan
from fleet.selectors import free_lanes
from fleet.services import LaneHolder, WantedLanes, allocate_more
from runs.lending.borrowing import lend_idle_lanes
from runs.lending.reclaiming import ask_back
from runs.models import Attempt, Run, RunResize
from runs.queue.dispatch import dispatch_waiting
from runs.services import create_run
from tests.web.runs.elastic_runs import at_work, elastic_spec, join, measure, report
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, ResizeCause, ResizeState
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

NUM_BORROWED = 32
NUM_WAITING = 1000
LANES_OF_A_RUN = 4
"""Of them three generate and one trains."""
NUM_ROUNDS = NUM_BORROWED // LANES_OF_A_RUN
Figures = dict[str, float | int]


def reclaim_figures() -> dict[str, Figures]:
    """Lanes that are free when it begins are held when it ends."""
    owner = User.objects.get(username="admin")
    project = Project.objects.filter(memberships__user=owner).earliest("pk")
    # The seeded runs hold their lanes, and are not to wait for others.
    Run.objects.update(state=RunState.RUNNING.value)
    borrower = at_work(_made_by(owner), project, _spec(elastic={"max_rollout": NUM_BORROWED + 1}))
    measure(borrower)
    idle = free_lanes(DEFAULT_POOL)[LaneKind.GPU]
    began = time.perf_counter()
    num_lent = lend_idle_lanes()
    lending: Figures = {"ms": _ms_since(began), "num_idle": idle, "num_lent": num_lent}
    join(borrower)
    _take_what_is_free(borrower)
    for number in range(NUM_WAITING):
        # More than were lent, so that each of them goes on waiting.
        _queue(owner, project, f"waiting {number}", 2 * NUM_BORROWED, "normal")
    notices, ways = [], []
    for number in range(min(NUM_ROUNDS, num_lent // LANES_OF_A_RUN)):
        _queue(owner, project, f"urgent {number}", LANES_OF_A_RUN, "high")
        began = time.perf_counter()
        num_asked = ask_back()
        notices.append(_ms_since(began))
        if num_asked != LANES_OF_A_RUN:
            raise RuntimeError(f"{LANES_OF_A_RUN} lanes must be asked back, got {num_asked}")
        resize = RunResize.objects.filter(cause=ResizeCause.RECLAIM).latest("created_at")
        lanes = LaneLoan.objects.filter(until=None, notice_at__isnull=False).values_list("name_in_run", flat=True)
        began = time.perf_counter()
        report(resize, ResizeState.DONE, dict.fromkeys(lanes, LaneStep.RELEASED))
        started = dispatch_waiting()
        ways.append(_ms_since(began))
        if len(started) != 1:
            raise RuntimeError(f"one run must have begun with the lanes, got {len(started)}")
    return {
        "a round of lending": lending,
        f"a notice, {NUM_WAITING} runs wait": _summary(notices),
        f"from a return to the next run, {NUM_WAITING} wait": _summary(ways),
    }


def _queue(owner: User, project: Project, name: str, num_lanes: int, priority: str) -> None:
    spec = _spec(lanes={"num_rollout": num_lanes - 1, "num_trainer": 1}, priority=priority)
    create_run(user=owner, project=project, name=name, spec=spec.model_dump(mode="json"))


def _made_by(owner: User) -> Callable[..., Run]:
    def make(project: Project, spec: RunSpec, state: str) -> Run:
        made = create_run(user=owner, project=project, name="borrower", spec=spec.model_dump(mode="json"))
        Run.objects.filter(pk=made.pk).update(state=state)
        return Run.objects.get(pk=made.pk)

    return make


def _spec(**sections: Any) -> RunSpec:
    return elastic_spec(**{"pipeline": {"placement": "disaggregated"}, "elastic": {}, **sections})


def _take_what_is_free(borrower: Attempt) -> None:
    """Let nobody have the GPU lanes that are left, so that a run that waits lacks all of its own."""
    left = free_lanes(DEFAULT_POOL).get(LaneKind.GPU, 0)
    other = Lane.objects.exclude(run_id=None).exclude(run_id=borrower.run_id).exclude(attempt=None)[0]
    holder = LaneHolder(run_id=other.run_id, attempt=other.attempt, project_id=None, user_id=None)
    if (
        left
        and allocate_more(holder=holder, pool=DEFAULT_POOL, wanted=[WantedLanes(role=LaneRole.ROLLOUT, number=left)])
        is None
    ):
        raise RuntimeError(f"{left} free lanes must be there to be taken")


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _summary(taken: list[float]) -> Figures:
    return {"ms": statistics.median(taken), "most_ms": max(taken)}
