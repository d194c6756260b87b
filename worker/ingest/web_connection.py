"""HTTP to the web: one kept-alive connection, and requests that are tried again while the web does not answer.

Invariant: an answer of the web is returned whatever its status, and only the absence of an answer is an exception,
always `WebUnreachableError`: what a status means is decided by the callers.
"""

import http.client
import os
import sys
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE

TIMEOUT_SECONDS = 20.0
"""How long the web may take to answer: far longer than storing a full post of events takes."""
MAX_BOOTSTRAP_TRIES = 12
"""The most tries of the bootstrap, with about 36 s of waiting between them, well within the code's 5 minutes."""
FIRST_BACK_OFF_SECONDS = 0.5
"""The wait after the first failure; it doubles with each further one."""
MAX_BACK_OFF_SECONDS = 4.0
"""The longest wait, so that a web that is back hears of its drivers before it takes them for lost: that is some 7 s
after it is back at the earliest (`runs.attempts.driver_health`)."""


class WebUnreachableError(Exception):
    """No answer came: the connection was refused, reset or timed out. Another try may succeed."""


class WebRefusedError(Exception):
    """The web answered that it does not accept the request, and it never will: another try is pointless."""


class FencedError(WebRefusedError):
    """Status 410: another program has taken over, or the work has ended, so this one must let go of all and exit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, truncated to 500 characters for an error message."""
        return self.body.decode("utf-8", "replace")[:500]


def back_off_seconds(num_failures: int) -> float:
    """The exponential wait after `num_failures` ≥ 1 failures in a row, bounded by `MAX_BACK_OFF_SECONDS`."""
    doublings = min(num_failures - 1, 10)  # Bounded before the power, which days of failures would overflow.
    return float(min(FIRST_BACK_OFF_SECONDS * 2**doublings, MAX_BACK_OFF_SECONDS))


class WebConnection:
    """A kept-alive connection to `base_url`, reopened as needed. Not thread-safe: each thread has its own.

    Raises:
        ValueError: when `base_url` is not an http or https URL.
    """

    def __init__(self, base_url: str, token: str | None = None) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(
                f"`TANDEM_PUBLIC_URL` must be an http(s) URL, got {base_url!r}: e.g. http://127.0.0.1:8000"
            )
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
        self._prefix = parts.path.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str, body: bytes, headers: dict[str, str] | None = None) -> Answer:
        """Send one request and read its answer. Raises `WebUnreachableError` when none comes."""
        is_reused = self._connection.sock is not None
        try:
            return self._exchange(method, path, body, headers or {})
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            if not is_reused:
                raise WebUnreachableError(f"{method} {path}: {error or type(error).__name__}") from error
        # A server may close an idle connection at any time, so a failure on a reused one is tried once more on a new
        # connection before the web counts as unreachable.
        try:
            return self._exchange(method, path, body, headers or {})
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            raise WebUnreachableError(f"{method} {path}: {error or type(error).__name__}") from error

    def _exchange(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        self._connection.request(method, self._prefix + path, body=body, headers={**self._headers, **headers})
        response = self._connection.getresponse()
        return Answer(status=response.status, body=response.read())

    def close(self) -> None:
        """Close the connection, if it is open."""
        self._connection.close()


def job_environment() -> tuple[str, str]:
    """The web's address and the single-use code from a job's environment. Exits the process where one is missing.

    The code is removed from the environment, which actors inherit.
    """
    for variable in (PUBLIC_URL_VARIABLE, BOOTSTRAP_CODE_VARIABLE):
        if not os.environ.get(variable):
            sys.exit(f"`{variable}` must be set: this program is started by Tandem as a job on the Ray cluster")
    return os.environ[PUBLIC_URL_VARIABLE], os.environ.pop(BOOTSTRAP_CODE_VARIABLE)


def ask(connection: WebConnection, method: str, path: str, body: bytes = b"") -> bytes:
    """The body of a successful answer, after at most `MAX_BOOTSTRAP_TRIES` tries.

    Raises:
        FencedError: the web answers 410.
        WebRefusedError: it answers another status that a further try would not change.
        WebUnreachableError: it did not answer in `MAX_BOOTSTRAP_TRIES` tries.
    """
    last_failure = ""
    for num_tries in range(1, MAX_BOOTSTRAP_TRIES + 1):
        try:
            answer = connection.send(method, path, body, {"Content-Type": "application/json"})
        except WebUnreachableError as error:
            last_failure = str(error)
        else:
            if answer.is_success:
                connection.close()
                return answer.body
            if answer.status == 410:
                raise FencedError(answer.text)
            if answer.status < 500 and answer.status not in (408, 429):
                raise WebRefusedError(f"{method} {path} was refused ({answer.status}): {answer.text}")
            last_failure = f"status {answer.status}: {answer.text}"
        if num_tries < MAX_BOOTSTRAP_TRIES:
            time.sleep(back_off_seconds(num_tries))
    raise WebUnreachableError(f"no answer to {method} {path} after {MAX_BOOTSTRAP_TRIES} tries; last: {last_failure}")
