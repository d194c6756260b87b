"""While the database is away requests fail at once, are counted, and go on soon after it has come back."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connections
from django.test import Client
from rest_framework.test import APIClient

from api.database_circuit import (
    CIRCUIT,
    FIRST_WAIT_SECONDS,
    MAX_WAIT_SECONDS,
    Circuit,
    DatabaseAway,
    NoFreeConnection,
    is_away,
    is_crowded,
)
from server.embedded.postgres import ROLE, EmbeddedPostgres
from server.embedded.waiting import wait_until
from server.supervisor.process_spec import start
from server.web_database.base import DatabaseWrapper

POOL_SECONDS = 1.0
"""Shorter than the web's, so that the test is."""


@dataclass
class OwnDatabase:
    """A server of the test's own, and a connection to it as the web has one."""

    server: EmbeddedPostgres
    connection: DatabaseWrapper
    process: subprocess.Popen[bytes]

    def ask(self) -> float:
        """Ask as a request does, whose connection goes back to the pool; the seconds that it took."""
        begun = time.monotonic()
        try:
            with self.connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        finally:
            self.connection.close()
        return time.monotonic() - begun

    def refused(self) -> float:
        begun = time.monotonic()
        with pytest.raises(OperationalError) as error:
            self.ask()
        assert is_away(error.value)
        return time.monotonic() - begun

    def stop(self) -> None:
        self.process.send_signal(self.server.process_spec().stop_signal)
        self.process.wait(10)

    def start_again(self) -> None:
        self.process = _started(self.server)


def _started(server: EmbeddedPostgres) -> subprocess.Popen[bytes]:
    process = start(server.process_spec(), subprocess.DEVNULL)
    wait_until(server.is_ready, what="PostgreSQL", timeout_seconds=30)
    return process


@pytest.fixture
def own(tmp_path: Path, django_db_blocker: Any) -> Iterator[OwnDatabase]:
    server = EmbeddedPostgres.of(tmp_path, durable=False)
    server.prepare()
    process = _started(server)
    server.create_database("tandem")
    pool = {"min_size": 1, "max_size": 2, "timeout": POOL_SECONDS, "reconnect_timeout": POOL_SECONDS}
    place = {"NAME": "tandem", "USER": ROLE, "PASSWORD": "", "HOST": str(server.sockets), "PORT": ""}
    options = {"OPTIONS": {"pool": pool}, "CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": 0}
    connection = DatabaseWrapper({**connections["default"].settings_dict, **place, **options}, alias="own")
    connection.circuit = Circuit()
    database = OwnDatabase(server, connection, process)
    with django_db_blocker.unblock():
        yield database
    connection.close_pool()
    if database.process.poll() is None:
        database.stop()


def test_after_the_first_failure_requests_fail_at_once_until_the_database_is_back(own: OwnDatabase) -> None:
    own.ask()
    own.stop()
    assert own.refused() >= POOL_SECONDS / 2, "the first has waited in the pool"
    assert max(own.refused() for _ in range(20)) < 0.1
    state = own.connection.circuit.state
    assert state.away_since is not None
    assert (state.num_refused, state.num_failures) == (20, 1)
    own.start_again()
    wait_until(lambda: _answers(own), what="the web", timeout_seconds=FIRST_WAIT_SECONDS + 2)
    assert own.connection.circuit.state.away_since is None


def _answers(own: OwnDatabase) -> bool:
    try:
        own.ask()
    except OperationalError:
        return False
    return True


def test_a_pool_that_is_in_use_is_no_database_that_is_away(own: OwnDatabase) -> None:
    other = DatabaseWrapper(own.connection.settings_dict, alias="own")
    third = DatabaseWrapper(own.connection.settings_dict, alias="own")
    own.connection.ensure_connection()
    other.ensure_connection()
    third.num_waits = 1
    with pytest.raises(OperationalError, match="were in use") as error:
        third.ensure_connection()
    assert is_crowded(error.value) and not is_away(error.value)
    assert third.circuit.state.away_since is None
    for connection in (own.connection, other):
        connection.close()


def test_tries_come_one_at_a_time_ever_later_and_at_least_every_five_seconds() -> None:
    now = [0.0]
    circuit = Circuit(lambda: now[0])
    assert not circuit.admit()
    circuit.fail(was_admitted=False)
    circuit.fail(was_admitted=False)
    waits = []
    for _ in range(5):
        begun = now[0]
        while circuit.refuse() is not None:
            now[0] += 0.5
        waits.append(now[0] - begun)
        assert circuit.admit()
        with pytest.raises(DatabaseAway):
            circuit.admit()
        circuit.fail(was_admitted=True)
    assert waits == [FIRST_WAIT_SECONDS, 2.0, 4.0, MAX_WAIT_SECONDS, MAX_WAIT_SECONDS]
    circuit.succeed()
    assert (circuit.refuse(), circuit.admit(), circuit.state.num_failures) == (None, False, 6)


def test_what_the_database_refuses_does_not_say_that_it_is_away() -> None:
    def raised(cause: psycopg.Error) -> DatabaseError:
        error = DatabaseError()
        error.__cause__ = cause
        return error

    away = (psycopg.OperationalError(), psycopg.errors.AdminShutdown(), psycopg.errors.CannotConnectNow())
    refused = (psycopg.errors.QueryCanceled(), psycopg.errors.DeadlockDetected(), psycopg.errors.UniqueViolation())
    assert [is_away(raised(one)) for one in (*away, *refused)] == [True] * 3 + [False] * 3


def test_who_waits_for_a_connection_gets_the_one_that_becomes_free(own: OwnDatabase) -> None:
    other, third = (DatabaseWrapper(own.connection.settings_dict, alias="own") for _ in range(2))
    own.connection.ensure_connection()
    other.ensure_connection()

    def free() -> None:
        # Beyond the pool's own patience, within ours.
        time.sleep(1.5 * POOL_SECONDS)
        own.connection.pool.putconn(own.connection.connection)
        own.connection.connection = None

    with ThreadPoolExecutor(1) as threads:
        freed = threads.submit(free)
        third.ensure_connection()
        freed.result()
    for connection in (other, third):
        connection.close()


@pytest.mark.django_db
def test_a_request_that_waited_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowded(*args: Any, **kwargs: Any) -> None:
        raise OperationalError from NoFreeConnection("all were in use")

    client = Client(raise_request_exception=False)
    monkeypatch.setattr("django.contrib.auth.middleware.get_user", crowded)
    monkeypatch.setattr("api.authentication.TokenAuthentication.authenticate", crowded)
    refused, page = client.get("/api/v1/runs"), client.get("/runs")
    assert (refused.status_code, refused.headers["Retry-After"], page.status_code) == (503, "1", 503)
    assert "more requests at once than connections" in refused.json()["detail"]
    assert "more requests at once" in page.content.decode() and "does not answer" not in page.content.decode()


@pytest.fixture
def away() -> Iterator[None]:
    """As the web is once it has found the database away."""
    CIRCUIT.fail(was_admitted=False)
    yield
    CIRCUIT.succeed()


@pytest.mark.usefixtures("away")
@pytest.mark.django_db
def test_requests_are_told_when_to_come_again_and_readiness_tells_of_it() -> None:
    # Lest a slow machine reach the time of the next try.
    CIRCUIT._next_try += 60
    refused = APIClient().get("/api/v1/runs")
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert "the database does not answer" in refused.json()["detail"]
    page: Any = Client().get("/runs")
    assert (page.status_code, "Retry-After" in page.headers) == (503, True)
    assert "The database does not answer" in page.content.decode()
    ready = APIClient().get("/api/v1/health/ready").json()["database_circuit"]
    assert ready["away_since"] is not None
    assert ready["num_refused"] >= 2
    assert APIClient().get("/api/v1/health/live").status_code == 200


@pytest.mark.django_db
def test_a_database_that_goes_during_a_request_is_a_503_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*args: Any, **kwargs: Any) -> None:
        raise OperationalError from psycopg.errors.AdminShutdown("terminating connection")

    client = Client(raise_request_exception=False)
    monkeypatch.setattr("accounts.access.visible_projects", gone)
    monkeypatch.setattr("django.contrib.auth.middleware.get_user", gone)
    assert [client.get(address).status_code for address in ("/api/v1/runs", "/runs")] == [503, 503]
