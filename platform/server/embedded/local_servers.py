"""Starts the embedded database and broker as children of this process: for tests, which need no supervisor."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.embedded.folders import make_runtime_folder
from server.embedded.postgres import EmbeddedPostgres
from server.embedded.valkey import EmbeddedValkey
from server.embedded.waiting import wait_until
from server.supervisor.process_logs import last_lines, open_log
from server.supervisor.process_spec import ProcessSpec, start


@contextmanager
def database_and_broker(var: Path, *, database: str = "tandem", durable: bool = False) -> Iterator[None]:
    """PostgreSQL with `database` in it, and Valkey, on the data folder `var`, until the block ends.

    Raises:
        NotReadyError: a server did not answer; the message ends with the last lines of its log.
    """
    make_runtime_folder(var)
    postgres, valkey = EmbeddedPostgres.of(var, durable=durable), EmbeddedValkey.of(var)
    postgres.prepare()
    valkey.prepare()
    with (
        _running(postgres.process_spec(), var) as postgres_process,
        _running(valkey.process_spec(), var) as valkey_process,
    ):
        for server, process, name in ((postgres, postgres_process, "postgres"), (valkey, valkey_process, "valkey")):
            wait_until(
                server.is_ready,
                what=name,
                timeout_seconds=30,
                failure=lambda process=process, name=name: _exit_reason(process, var, name),  # type: ignore[misc]
            )
        postgres.create_database(database)
        yield


@contextmanager
def _running(spec: ProcessSpec, var: Path) -> Iterator[subprocess.Popen[bytes]]:
    with open_log(var / "logs", spec.name) as log:
        process = start(spec, log)
    try:
        yield process
    finally:
        process.send_signal(spec.stop_signal)
        try:
            process.wait(spec.stop_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _exit_reason(process: subprocess.Popen[bytes], var: Path, name: str) -> str | None:
    if process.poll() is None:
        return None
    return f"exit code {process.returncode}; {last_lines(var / 'logs' / f'{name}.log')}"
