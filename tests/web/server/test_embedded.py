"""The embedded servers start, answer, end, and start again on their data."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest

from server import environment
from server.embedded.folders import make_runtime_folder, runtime_folder
from server.embedded.local_servers import database_and_broker
from server.embedded.ports import RayPorts
from server.embedded.postgres import EmbeddedPostgres, PostgresError
from server.embedded.ray_head import RayHead
from server.embedded.valkey import EmbeddedValkey
from server.embedded.waiting import NotReadyError, wait_until
from server.errors import CannotStartError
from server.supervisor.process_spec import start


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("embedded")
    # Parents that only we may enter: the server of root runs as somebody else and must still reach its data.
    folder.chmod(0o700)
    yield folder
    shutil.rmtree(runtime_folder(folder))


SECRETS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "EMAIL_URL")
"""Variables of the web that hold a password or a key."""


def test_jobs_on_the_ray_head_see_no_secret_of_the_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "a secret")
    head = RayHead(var=tmp_path, ports=RayPorts(20000), node="local", host="127.0.0.1", resources={})
    assert "a secret" not in head.process_spec().env.values()


def test_ray_sizes_its_object_store_by_the_machine_unless_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flags(given: str) -> list[str]:
        monkeypatch.setenv("TANDEM_OBJECT_STORE_GIB", given)
        size = environment.object_store_bytes()
        head = RayHead(var=tmp_path, ports=RayPorts(20000), node="n", host="127.0.0.1", object_store_bytes=size)
        return [flag for flag in head.process_spec().argv if "object-store" in flag]

    assert flags("") == []
    assert flags("1.5") == [f"--object-store-memory={3 * 2**29}"]
    for bad in ("0", "-1", "nan", "inf", "8 GB"):
        with pytest.raises(CannotStartError, match=r"must be ≥ 0\.25"):
            flags(bad)


def test_servers_answer_keep_their_data_and_end(var: Path) -> None:
    postgres, valkey = EmbeddedPostgres.of(var), EmbeddedValkey.of(var)
    with database_and_broker(var):
        with psycopg.connect(unquote(postgres.url("tandem")), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (value int)")
        assert valkey.is_ready()
        assert postgres.can_be_reused()
    assert not postgres.is_ready() and not valkey.is_ready()
    assert postgres.running_pid() is None
    with database_and_broker(var), psycopg.connect(unquote(postgres.url("tandem"))) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_the_urls_in_settings_name_the_embedded_servers(var: Path) -> None:
    assert environment.embedded_database_url(var) == EmbeddedPostgres.of(var).url("tandem")
    assert environment.embedded_redis_url(var) == EmbeddedValkey.of(var).url


def test_sockets_and_data_are_closed_to_others(var: Path) -> None:
    postgres, valkey = EmbeddedPostgres.of(var), EmbeddedValkey.of(var)
    for folder in (postgres.data, postgres.sockets, valkey.socket_path.parent):
        assert folder.stat().st_mode & 0o077 == 0, folder


def test_postgres_recovers_after_kill_9(var: Path) -> None:
    postgres = EmbeddedPostgres.of(var)
    postgres.prepare()
    first = start(postgres.process_spec(), subprocess.DEVNULL)
    wait_until(postgres.is_ready, what="PostgreSQL", timeout_seconds=30)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    with database_and_broker(var):
        assert postgres.is_ready()


def test_postgres_waits_for_the_children_of_one_that_was_killed(var: Path) -> None:
    postgres = EmbeddedPostgres.of(var)
    postgres.prepare()
    first = start(postgres.process_spec(), subprocess.DEVNULL)
    wait_until(postgres.is_ready, what="PostgreSQL", timeout_seconds=30)
    children = [int(pid) for pid in Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()]

    def signal_children(number: signal.Signals) -> None:
        for pid in children:
            # PostgreSQL starts short-lived children too, which may have ended since.
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    signal_children(signal.SIGSTOP)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    waking = threading.Timer(0.5, signal_children, [signal.SIGCONT])
    waking.start()
    with database_and_broker(var):
        assert postgres.is_ready()
    waking.join()


def test_an_interrupted_initdb_is_started_over(tmp_path: Path) -> None:
    make_runtime_folder(tmp_path)
    postgres = EmbeddedPostgres.of(tmp_path)
    try:
        (postgres.data / "base").mkdir(parents=True)
        (postgres.data / "PG_VERSION").write_text("18\n")
        postgres.prepare()
        assert (postgres.data / "global" / "pg_control").exists()
    finally:
        shutil.rmtree(runtime_folder(tmp_path))


@contextmanager
def a_process_called(name: str) -> Iterator[int]:
    process = subprocess.Popen([name, "60"], executable="/bin/sleep")
    try:
        # A process has no command line yet in the moment after its exec.
        while not Path(f"/proc/{process.pid}/cmdline").read_bytes():
            assert process.poll() is None
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_a_reused_process_id_is_not_a_server(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres(data=tmp_path, sockets=tmp_path)
    with a_process_called("sleep") as pid:
        (tmp_path / "postmaster.pid").write_text(f"{pid}\n")
        assert postgres.running_pid() is None


def test_a_holder_that_does_not_answer_is_named(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres(data=tmp_path, sockets=tmp_path)
    with a_process_called("postgres") as pid:
        (tmp_path / "postmaster.pid").write_text(f"{pid}\n")
        with pytest.raises(PostgresError, match=f"Process {pid} holds"):
            postgres.can_be_reused(timeout_seconds=0.2)


def test_a_server_that_ends_before_it_is_ready_says_why() -> None:
    with pytest.raises(NotReadyError, match="web ended before it was ready: exit code 1"):
        wait_until(lambda: False, what="web", timeout_seconds=30, failure=lambda: "exit code 1")
    with pytest.raises(NotReadyError, match="did not answer within 0 s"):
        wait_until(lambda: False, what="web", timeout_seconds=0.01)
