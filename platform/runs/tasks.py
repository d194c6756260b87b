"""Celery tasks of a run's life: thin and idempotent, since they may be delivered twice or late.

Each calls one service, which decides from the database.
"""

from uuid import UUID

from celery import shared_task

from fleet.allocation.wide_lanes import regroup_all
from fleet.health.upkeep import end_maintenance
from fleet.shares.spending import check_budgets
from runs.attempts.launch import launch
from runs.attempts.reconciler import Reconciler
from runs.attempts.web_probe import HttpWebProbe
from runs.checkpoint_files import delete_checkpoints as delete_checkpoint_files
from runs.cluster import RayCluster
from runs.fork_release import release_checkpoint as let_checkpoint_go
from runs.lending.borrowing import lend_idle_lanes
from runs.lending.idle_lanes import release_idle_lanes
from runs.lending.reclaiming import ask_back
from runs.models import submission_id
from runs.pool.budget_stops import stop_spent_projects
from runs.pool.gpu_test_jobs import watch as watch_tests
from runs.pool.node_agent_job import keep_agent
from runs.queue.dispatch import dispatch_waiting
from runs.resizing.draining import move_runs_off
from worker.contracts import task_names


@shared_task(name=task_names.DISPATCH_RUNS)
def dispatch_runs() -> int:
    """Start waiting runs for which lanes are free, and ask back what the others lack; returns the number started."""
    num_started = len(dispatch_waiting())
    ask_back()
    return num_started


@shared_task(name=task_names.LEND_LANES)
def lend_lanes() -> int:
    """Lend idle lanes to elastic runs; returns their number."""
    return lend_idle_lanes()


@shared_task(name=task_names.LAUNCH_RUN)
def launch_run(run_id: str, attempt: int) -> bool:
    return launch(run_id=UUID(run_id), number=attempt, gateway=RayCluster())


@shared_task(name=task_names.RECONCILE_RUNS)
def reconcile_runs() -> None:
    """Find lost drivers, release their lanes, and dispatch waiting runs."""
    try:
        Reconciler(gateway=RayCluster(), web=HttpWebProbe()).tick()
    finally:
        dispatch_waiting()


@shared_task(name=task_names.KEEP_UP_POOL)
def keep_up_pool() -> None:
    """End maintenance whose time has come, move runs off what is drained by a deadline, hold projects to their budgets
    and runs to their GPUs' use, and give lanes the GPUs that their node's setting asks for."""
    end_maintenance()
    move_runs_off()
    check_budgets()
    stop_spent_projects()
    release_idle_lanes()
    regroup_all()


@shared_task(name=task_names.WATCH_NODES)
def watch_nodes() -> bool:
    """Start a node agent where none is at work; returns whether one was started."""
    return keep_agent(RayCluster())


@shared_task(name=task_names.WATCH_GPU_TESTS)
def watch_gpu_tests() -> None:
    """Start tests of GPUs that are asked for, and release the lanes of those that are over."""
    watch_tests(gateway=RayCluster())


@shared_task(name=task_names.STOP_JOB)
def stop_job(run_id: str, attempt: int) -> None:
    """Stop an attempt's job. If the cluster is unavailable now, the reconciler retries until the job is over."""
    RayCluster().stop(submission_id(UUID(run_id), attempt))


@shared_task(name=task_names.DELETE_CHECKPOINTS)
def delete_checkpoints(run_id: str) -> None:
    delete_checkpoint_files(UUID(run_id))


@shared_task(name=task_names.RELEASE_CHECKPOINT)
def release_checkpoint(run_id: str, uri: str) -> bool:
    """Hold the checkpoint of a run no longer, unless a fork still has to begin from it."""
    return let_checkpoint_go(UUID(run_id), uri)
