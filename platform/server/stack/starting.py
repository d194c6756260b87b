"""Starts the whole stack in the order of its dependencies, and ends it with the block.

::

    folder, disk, port ─► lock ─► supervisor ─┬─► PostgreSQL ─► migrate, static, admin, lanes ─► web ─┐
                                              ├─► Valkey ─────────────────────────────────────────────┼─► worker ─► up
                                              └─► Ray head (slowest, so it starts first) ─────────────┘

A server whose URL is given in the environment is not started. Invariant: whatever happens inside, no process that was
started here outlives the block.
"""

import os
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

from rich.console import Console

from accounts.models import Project, User
from fleet.lane_layout import LOCAL_NODE
from fleet.selectors import pool_lanes
from server import environment
from server.embedded.folders import make_runtime_folder
from server.embedded.gpus import LocalGpus, local_gpus
from server.embedded.ports import RayPorts, reserved_ray_ports
from server.embedded.postgres import EmbeddedPostgres
from server.embedded.ray_head import RayHead
from server.embedded.valkey import EmbeddedValkey
from server.embedded.waiting import wait_until
from server.stack import first_start, preflight, processes
from server.stack.lock import folder_lock
from server.supervisor.client import Stack, running_stack
from worker.contracts.lanes import gpu_resource

START_SECONDS = 90.0
"""Longest start of a server, in seconds: ten times that on two idle cores, so that a busy machine does not fail."""


@dataclass(frozen=True, slots=True)
class Started:
    """The serving stack, and what its greeting shows."""

    stack: Stack
    admin: User
    new_password: str | None
    project: Project


@contextmanager
def started_stack(console: Console) -> Iterator[Started]:
    """Start the whole stack; yields once it serves.

    Raises:
        CannotStartError: the stack cannot start; the message says what to do.
    """
    var = environment.VAR
    preflight.check_folder(var)
    preflight.check_disk(var)
    with ExitStack() as held:
        lock = held.enter_context(folder_lock(var))
        preflight.check_port(environment.PORT, environment.HOST)
        make_runtime_folder(var)
        stack = held.enter_context(running_stack(var / "logs", inherit=(lock,)))
        ray, gpus = None, LocalGpus()
        if not environment.HAS_OWN_RAY:
            gpus = local_gpus()
            ray = start_ray(stack, held.enter_context(reserved_ray_ports(environment.PORT)), gpus.indices)
        if not environment.HAS_OWN_REDIS:
            start_valkey(stack)
        if not environment.HAS_OWN_DATABASE:
            start_postgres(stack)
        console.print("Preparing tables and static files …")
        # Django's record of all migrations is 30 MB, which would be held as long as the stack serves.
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("fork")) as own_process:
            own_process.submit(first_start.migrate_and_collect).result()
        admin, password = first_start.ensure_admin(var)
        project = first_start.ensure_project(admin)
        if ray is not None:
            first_start.ensure_lanes(gpus)
        elif not any(pool_lanes().values()):
            console.print("The pool has no lanes yet: nodes come by themselves, within a minute of the agent's start.")
        start_services(stack, ray)
        yield Started(stack, admin, password, project)


def start_postgres(stack: Stack) -> None:
    """Start PostgreSQL and create the database; a server that already runs on the folder is reused."""
    postgres = EmbeddedPostgres.of(environment.VAR)
    postgres.prepare()
    if not postgres.can_be_reused():
        stack.start(postgres.process_spec())
        wait_until(
            postgres.is_ready,
            what="PostgreSQL",
            timeout_seconds=START_SECONDS,
            failure=lambda: stack.exit_reason("postgres"),
        )
    postgres.create_database("tandem")


def start_valkey(stack: Stack) -> None:
    valkey = EmbeddedValkey.of(environment.VAR)
    valkey.prepare()
    stack.start(valkey.process_spec())
    wait_until(
        valkey.is_ready, what="Valkey", timeout_seconds=START_SECONDS, failure=lambda: stack.exit_reason("valkey")
    )


def start_ray(stack: Stack, ports: RayPorts, gpu_indices: Iterable[int]) -> RayHead:
    """Start the Ray head. It is waited for last, because it takes longest."""
    # A token in the caller's environment belongs to another cluster, and Ray would prefer it to our file.
    os.environ.pop("RAY_AUTH_TOKEN", None)
    resources = {gpu_resource(LOCAL_NODE, index): 1.0 for index in gpu_indices}
    ray = RayHead(
        var=environment.VAR,
        ports=ports,
        node=LOCAL_NODE,
        host=environment.RAY_HOST,
        object_store_bytes=environment.object_store_bytes(),
        resources=resources,
    )
    ray.prepare()
    stack.start(ray.process_spec())
    return ray


def start_services(stack: Stack, ray: RayHead | None) -> None:
    """Start the web server, then the worker; returns when web and Ray answer.

    The worker comes last, because its first check of a run from an earlier start needs Ray's answer.
    """
    extra = {
        "TANDEM_VAR": str(environment.VAR),
        "TANDEM_PORT": str(environment.PORT),
        "TANDEM_PUBLIC_URL": environment.PUBLIC_URL,
        **(ray.client_environment() | {"TANDEM_RAY_HEAD": ray.join_address} if ray else {}),
    }
    stack.start(processes.web_process(extra))
    wait_until(
        web_is_ready, what="The web server", timeout_seconds=START_SECONDS, failure=lambda: stack.exit_reason("web")
    )
    if ray is not None:
        wait_until(
            ray.is_ready, what="The Ray head", timeout_seconds=START_SECONDS, failure=lambda: stack.exit_reason("ray")
        )
    stack.start(processes.task_worker_process(extra, str(environment.VAR / "celery-beat-schedule")))


def web_is_ready() -> bool:
    host = "127.0.0.1" if environment.HOST in {"0.0.0.0", "::"} else environment.HOST
    try:
        with urllib.request.urlopen(f"http://{host}:{environment.PORT}/api/v1/health/live", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
