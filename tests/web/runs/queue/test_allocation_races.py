"""Fifty dispatchers at once over 64 GPUs on real PostgreSQL: no lane is given twice, no gang in part, none is lost.

Each thread has a connection of its own. Some die before they commit; some end their run at once, so that lanes come
free while others choose; some dispatch the queue, others a run of their own.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from accounts.models import Project
from fleet.models import Lane, LaneUse, Node
from fleet.selectors import free_lanes, grants_of, holders, pool_lanes
from fleet.services import release
from runs.attempts import attempts
from runs.models import Attempt, AttemptOutcome, Run
from runs.queue.dispatch import LanesTaken, dispatch_waiting, start_attempt
from runs.transitions import RunStateConflict
from tests.web.fleet.node_posts import alive, card, post, report
from worker.contracts.node_reports import ClusterNode, GpuTopology, NodeReport
from worker.contracts.run_spec import RunSpec

NUM_NODES, NUM_GPUS, NUM_THREADS = 8, 8, 50
END_SECONDS = 120.0


class Died(Exception):
    """A dispatcher dies before its transaction commits."""


@dataclass(frozen=True)
class Dispatcher:
    """What one thread does."""

    num_trainer: int
    num_rollout: int
    is_colocated: bool
    act: str
    """`start` its run, let the `queue` be dispatched, `die` before committing, or `end` its run at once."""


dispatchers = st.lists(
    st.builds(
        Dispatcher,
        num_trainer=st.integers(1, 8),
        num_rollout=st.integers(1, 6),
        is_colocated=st.booleans(),
        act=st.sampled_from(["start", "start", "queue", "die", "end"]),
    ),
    min_size=NUM_THREADS,
    max_size=NUM_THREADS,
)


def report_pool() -> None:
    """Eight nodes of eight GPUs that a switch joins, of two models."""
    nodes, reports = list[ClusterNode](), list[NodeReport]()
    for number in range(NUM_NODES):
        names = [f"GPU-{number}-{index}" for index in range(NUM_GPUS)]
        model = "NVIDIA H100 80GB HBM3" if number < NUM_NODES - 2 else "NVIDIA L40S"
        peers = [GpuTopology(nvlink_peers=tuple(set(names) - {name}), numa_node=0) for name in names]
        gpus = [
            card(name, index, model=model).model_copy(update={"topology": peers[index]})
            for index, name in enumerate(names)
        ]
        nodes.append(alive(f"n{number}", num_cpu_lanes=8))
        reports.append(report(nodes[-1], *gpus))
    post(*nodes, reports=tuple(reports))


def run_at_once(acts: Sequence[Callable[[], None]]) -> list[BaseException]:
    """Run the acts at once, each on a connection of its own; returns what they raised."""
    barrier, errors = threading.Barrier(len(acts)), list[BaseException]()

    def work(act: Callable[[], None]) -> None:
        try:
            barrier.wait(timeout=30)
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(END_SECONDS)
    assert not any(thread.is_alive() for thread in threads), "dispatchers wait for each other"
    return errors


def act_of(dispatcher: Dispatcher, run: Run) -> Callable[[], None]:
    def start() -> None:
        try:
            start_attempt(Run.objects.get(pk=run.pk))
        except (LanesTaken, RunStateConflict):
            return

    def die() -> None:
        try:
            with transaction.atomic():
                start()
                raise Died
        except Died:
            return

    def end() -> None:
        start()
        if attempts.close(run.pk, 1, AttemptOutcome.CLOSED, detail="over"):
            Run.objects.filter(pk=run.pk).update(state="completed")
            release(run_id=run.pk, attempt=1)

    def queue() -> None:
        dispatch_waiting()

    return {"start": start, "die": die, "end": end, "queue": queue}[dispatcher.act]


def assert_sound() -> None:
    """What holds at any moment at which nobody is at work."""
    lanes = list(Lane.objects.all())
    held = [lane for lane in lanes if lane.held_since is not None]
    open_uses = list(LaneUse.objects.filter(until=None).values_list("lane", "run_id", "attempt"))
    assert sorted(open_uses) == sorted((lane.pk, lane.run_id, lane.attempt) for lane in held), "each use is closed"
    for lane in lanes:
        uses = list(LaneUse.objects.filter(lane=lane).order_by("since", "pk"))
        for before, after in pairwise(uses):
            assert before.until is not None, f"{lane} is given twice at once"
            assert before.until <= after.since, f"{lane} is given twice at once"
    by_attempt = Counter((lane.run_id, lane.attempt) for lane in held)
    at_work = list(Attempt.objects.filter(ended_at=None).select_related("run"))
    assert set(by_attempt) == {(attempt.run_id, attempt.number) for attempt in at_work}, "no lane is lost"
    for attempt in at_work:
        wanted = attempt.concrete_spec.granted_lanes
        roles = Counter(grant.role.value for grant in grants_of(attempt.run_id, attempt.number))
        assert roles == +Counter(trainer=wanted.num_trainer, rollout=wanted.num_rollout, reward=wanted.num_reward), (
            "a gang is given whole"
        )
    assert LaneUse.objects.values("run_id", "attempt", "name_in_run").distinct().count() == LaneUse.objects.count()


Pool = Callable[[list[Dispatcher]], list[Run]]


@pytest.fixture
def pool(make_run: Callable[..., Run], make_project: Callable[..., Project], make_spec: Callable[..., RunSpec]) -> Pool:
    """A new pool with a run for each dispatcher."""

    def make(dispatchers: list[Dispatcher]) -> list[Run]:
        LaneUse.objects.all().delete()
        Project.objects.all().delete()
        Node.objects.all().delete()
        report_pool()
        projects = [make_project(f"p{number}") for number in range(3)]
        return [
            make_run(
                project=projects[number % 3],
                spec=make_spec(
                    lanes={"num_rollout": each.num_rollout, "num_trainer": each.num_trainer, "num_reward": 1},
                    pipeline={"placement": "colocated" if each.is_colocated else "disaggregated"},
                ),
            )
            for number, each in enumerate(dispatchers)
        ]

    return make


def dispatch_at_once(dispatchers: list[Dispatcher], runs: list[Run], seed: int) -> None:
    acts = [act_of(each, run) for each, run in zip(dispatchers, runs, strict=True)]
    random.Random(seed).shuffle(acts)
    assert run_at_once(acts) == []
    assert_sound()
    # What nobody got for others' sake is given in the next round: the first run that waits does not fit.
    while dispatch_waiting():
        pass
    assert_sound()
    for holder in holders():
        release(run_id=holder.run_id, attempt=holder.attempt)
    assert free_lanes() == pool_lanes() == {"gpu": NUM_NODES * NUM_GPUS, "cpu": 8 * NUM_NODES}
    assert not LaneUse.objects.filter(until=None).exists()


# Threads never take the same turns twice, so that shrinking a failure would prove nothing.
of_threads = settings(suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate])


@pytest.mark.django_db(transaction=True)
@settings(of_threads, max_examples=1)
@given(dispatchers=dispatchers, seed=st.integers(0, 2**32))
def test_fifty_dispatchers_at_once_give_every_lane_to_one_run_and_every_gang_whole(
    pool: Pool, dispatchers: list[Dispatcher], seed: int
) -> None:
    dispatch_at_once(dispatchers, pool(dispatchers), seed)


@pytest.mark.slow
@pytest.mark.timeout(1200)  # Twenty times fifty threads on two cores, which other work may need too.
@pytest.mark.django_db(transaction=True)
@settings(of_threads, max_examples=20)
@given(dispatchers=dispatchers, seed=st.integers(0, 2**32))
def test_whatever_fifty_dispatchers_at_once_do(pool: Pool, dispatchers: list[Dispatcher], seed: int) -> None:
    dispatch_at_once(dispatchers, pool(dispatchers), seed)
