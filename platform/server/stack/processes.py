"""Process specs of the web server and of the Celery worker with its beat."""

import sys
from collections.abc import Mapping

from server.environment import HOST, PORT, ROOT
from server.supervisor.process_spec import ProcessSpec, base_environment

NUM_TASK_THREADS = 4


def django_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with the apps on the import path, and `extra`."""
    return {
        **base_environment(),
        "DJANGO_SETTINGS_MODULE": "server.settings",
        # The checkout comes first, as in manage.py, because `platform/` itself must never be importable.
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "PYTHONUNBUFFERED": "1",
        **extra,
    }


def web_process(extra: Mapping[str, str]) -> ProcessSpec:
    argv = (
        *(sys.executable, "-m", "uvicorn", "server.asgi:application"),
        *("--host", HOST, "--port", str(PORT)),
        *("--lifespan", "off", "--no-access-log", "--timeout-graceful-shutdown", "2"),
    )
    return ProcessSpec(name="web", argv=argv, env=django_environment(extra), cwd=str(ROOT), stop_seconds=2.5)


def task_worker_process(extra: Mapping[str, str], schedule_file: str) -> ProcessSpec:
    """Threads, not forked children: tasks are short and wait on the network, and a fork costs 80 MB each."""
    argv = (
        *(sys.executable, "-m", "celery", "--app", "server.celery_app:app", "worker"),
        *("--beat-thread", "--schedule", schedule_file, "--queues", "runs,gallery", "--loglevel", "INFO"),
        *("--pool", "threads", "--concurrency", str(NUM_TASK_THREADS), "--without-gossip", "--without-mingle"),
        # Events that nobody listens to, every two seconds.
        "--without-heartbeat",
    )
    # Django's checks load every view and form, 30 MB that no task needs; `up` has run those of the settings.
    # A connection for each thread and one for the beat.
    env = django_environment({**extra, "CELERY_SKIP_CHECKS": "1", "TANDEM_TASK_CONNECTIONS": str(NUM_TASK_THREADS + 1)})
    return ProcessSpec(name="worker", argv=argv, env=env, cwd=str(ROOT), stop_seconds=2.5)
