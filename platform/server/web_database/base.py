"""Connections of the web, which are refused at once while the database is away. Django finds the class by its name."""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.adapt import AdaptersMap
from psycopg_pool import PoolTimeout

from api.database_circuit import CIRCUIT, NoFreeConnection, is_away
from server.web_database.timestamps import UtcLoader

PROBE_SECONDS = 2
"""To ask a server whether it is there; the least that libpq takes."""


NUM_WAITS = 6
"""How often the pool's `timeout` a request waits for a connection while the database answers: half a minute, as long as
proxies wait for an answer."""


class DatabaseWrapper(base.DatabaseWrapper):
    circuit = CIRCUIT
    num_waits = NUM_WAITS

    def get_connection_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_connection_params()
        context = AdaptersMap(params["context"])
        context.register_loader("timestamptz", UtcLoader)
        return {**params, "context": context}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Raises `DatabaseAway` at once while the database is away, `NoFreeConnection` where it is there and the pool
        gave none in time; psycopg's errors for what else fails."""
        was_admitted = self.circuit.admit()
        if was_admitted:
            self._ask_server(conn_params, was_admitted=True)
        for num_left in reversed(range(self.num_waits)):
            try:
                connection = super().get_new_connection(conn_params)
            except psycopg.OperationalError as error:
                # A pool whose connections are all in use times out alike, with a database that is there.
                self._ask_server(conn_params, was_admitted=was_admitted)
                if not isinstance(error, PoolTimeout):
                    raise
                if not num_left:
                    raise NoFreeConnection("all connections of this web process were in use for too long") from error
            else:
                break
        self.circuit.succeed()
        return connection

    def _ask_server(self, conn_params: dict[str, Any], *, was_admitted: bool) -> None:
        """Connect beside the pool, which would wait. Raises psycopg's error where the server is away."""
        try:
            psycopg.connect(**{**conn_params, "connect_timeout": PROBE_SECONDS}).close()
        except psycopg.OperationalError as error:
            if is_away(error):
                self.circuit.fail(was_admitted=was_admitted)
                raise
