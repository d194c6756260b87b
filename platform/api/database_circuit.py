"""Whether the database is away, so that requests fail at once while it is.

    closed ── a connection fails, and so does asking the server ──► open ── asked again after a while ──► closed
                                                                   ▲                                  │
                                                                   └──────── still away, later ◄──────┘

A pool waits some seconds for a connection. While the database is away each request would wait so long, and hold a
thread meanwhile. Invariant: while the circuit is open at most one request at a time asks the server, at least every
`MAX_WAIT_SECONDS`, so that all go on so soon after it has come back.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg

FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 1.0, 5.0
"""From a failure to the next try, twice as long each time: a database that restarts is back within a second or two."""
SHUTDOWN_STATES = frozenset({"57P01", "57P02", "57P03"})
"""PostgreSQL's: it shuts down, has crashed, or starts."""
CONNECTION_STATES = "08"
"""The class of PostgreSQL's states that tell of a connection."""


class DatabaseAway(psycopg.OperationalError):
    """The database does not answer, and is not asked just now."""


@dataclass(frozen=True, slots=True)
class CircuitState:
    """What readiness shows."""

    away_since: datetime | None
    """Null while the database answers."""
    num_refused: int
    """Requests and connections that were refused at once, since this process started."""
    num_failures: int
    """Times that the database was found to be away."""


class Circuit:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._away_since: datetime | None = None
        self._next_try, self._wait = 0.0, 0.0
        self._num_refused = self._num_failures = 0

    def admit(self) -> bool:
        """Whether whoever connects has to ask the server first, since it was away. Raises `DatabaseAway` while another
        one does, or has just done so."""
        with self._lock:
            if self._away_since is None:
                return False
            if self._clock() < self._next_try:
                self._num_refused += 1
                raise DatabaseAway("the database does not answer, and was asked a moment ago")
            self._next_try = self._clock() + self._wait
            return True

    def refuse(self) -> int | None:
        """Seconds after which to come again, for a request that is refused before it begins; None for one that may
        try."""
        with self._lock:
            if self._away_since is None or self._clock() >= self._next_try:
                return None
            self._num_refused += 1
            return self._seconds_left()

    def fail(self, *, was_admitted: bool) -> None:
        """Note that the server was asked and did not answer: by who was admitted while it was away, or by one of those
        who were waiting when it went, of whom the first counts."""
        with self._lock:
            if self._away_since is None:
                self._away_since, self._wait = datetime.now(UTC), FIRST_WAIT_SECONDS
            elif was_admitted:
                self._wait = min(2 * self._wait, MAX_WAIT_SECONDS)
            else:
                return
            self._num_failures += 1
            self._next_try = self._clock() + self._wait

    def succeed(self) -> None:
        """Note that the server answers."""
        if self._away_since is not None:
            with self._lock:
                self._away_since, self._wait = None, 0.0

    @property
    def retry_after(self) -> int:
        """Whole seconds, at least 1, after which a client should come again."""
        with self._lock:
            return self._seconds_left()

    @property
    def state(self) -> CircuitState:
        with self._lock:
            return CircuitState(self._away_since, self._num_refused, self._num_failures)

    def _seconds_left(self) -> int:
        return max(1, math.ceil(self._next_try - self._clock()))


CIRCUIT = Circuit()
"""Of this process."""


class NoFreeConnection(psycopg.OperationalError):
    """All of this process's connections were in use for as long as a request waits for one; the database answers."""


def is_crowded(error: BaseException | None) -> bool:
    """Whether an error says that no connection became free in time."""
    while error is not None:
        if isinstance(error, NoFreeConnection):
            return True
        error = error.__cause__
    return False


def is_away(error: BaseException | None) -> bool:
    """Whether an error says that the database is away, and not that it refused something."""
    while error is not None:
        if isinstance(error, NoFreeConnection):
            return False
        if isinstance(error, psycopg.OperationalError):
            state = error.sqlstate
            # What libpq says by itself has no state: no server there, or a connection that broke.
            return state is None or state.startswith(CONNECTION_STATES) or state in SHUTDOWN_STATES
        error = error.__cause__
    return False
