"""`remote`: a scorer that the user runs, called over HTTP with the protocol of `worker.engine.reward.wire`.

Invariant: the token is sent in the `Authorization` header to the address of the spec and nowhere else (redirects are
refused), and never appears in an error or a log line. An answer is bounded in size and in time.
"""

import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RemoteSettings
from worker.contracts.scorer_access import SCORER_HOSTS_SETTING, ScorerAccess
from worker.engine.errors import EngineError
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.guarded_client import guarded_client
from worker.engine.reward.wire import CONTENT_TYPES, decode_answer, encode_request
from worker.outbound.outbound_guard import AddressRefused, url_problem

TRANSIENT_STATUSES = frozenset({408, 429})
"""Statuses that are worth a retry, beside all of 5xx: request time-out and too many requests."""
MAX_ANSWER_BYTES = 16 * 2**20
"""The most bytes of an answer: thousands of samples with long errors stay far below."""


class SecretMissingError(EngineError):
    """The spec names a secret that the run was not given, or one with characters that HTTP headers do not allow."""


class RemoteAddressError(EngineError):
    """The address in the spec is not a URL that a scorer may be at."""


class RemoteReward:
    """The reward. Raises `SecretMissingError` when the named token is not among those of `access`, and
    `RemoteAddressError` for an address that is no URL, or that of a host that is neither public nor allowed."""

    name = RewardName.REMOTE.value
    judges_clips = True

    def __init__(self, settings: RemoteSettings, access: ScorerAccess, *, timeout_seconds: float) -> None:
        if problem := url_problem(settings.url, allowed_hosts=access.hosts, setting=SCORER_HOSTS_SETTING):
            raise RemoteAddressError(f"`settings.url` {problem}")
        self._settings = settings
        self._timeout_seconds = timeout_seconds
        kind = CONTENT_TYPES[settings.format]
        headers = {"Content-Type": kind, "Accept": kind}
        if settings.secret is not None:
            headers["Authorization"] = f"Bearer {_token(settings.secret, access)}"
        self._client = guarded_client(access, headers=headers, timeout=timeout_seconds)
        try:
            self._host = self._client.build_request("POST", settings.url).url.netloc.decode()
        except (httpx.InvalidURL, UnicodeError) as error:
            raise RemoteAddressError(f"`settings.url` must be an address, got {settings.url!r}: {error}") from error

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 pictures (N, H, W, 3) or clips (N, F, H, W, 3).

        Raises:
            ScorerUnavailableError: when there is no answer, its status is not 200, or it violates the protocol.
        """
        if not len(images):
            return RewardResult((), ())
        form = self._settings.format
        body = encode_request(images, prompts, scorer=self._settings.scorer, request_id=uuid.uuid4().hex, form=form)
        try:
            return decode_answer(self._post(body), form, len(prompts))
        except AddressRefused as error:
            raise ScorerUnavailableError(str(error), is_transient=False) from error
        except httpx.HTTPError as error:
            raise ScorerUnavailableError(
                f"no answer from {self._host}: {error or type(error).__name__}", is_transient=True
            ) from error

    def _post(self, body: bytes) -> bytes:
        """The body of the answer to a request. Raises `ScorerUnavailableError` as `score` does, and
        `httpx.HTTPError`."""
        deadline = time.monotonic() + self._timeout_seconds
        content = bytearray()
        with self._client.stream("POST", self._settings.url, content=body) as answer:
            if answer.status_code != 200:
                raise ScorerUnavailableError(
                    f"{self._host} answered with status {answer.status_code} {answer.reason_phrase}",
                    is_transient=answer.status_code in TRANSIENT_STATUSES or answer.status_code >= 500,
                    wait_seconds=retry_after_seconds(answer.headers.get("Retry-After")),
                )
            for part in answer.iter_bytes():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    raise ScorerUnavailableError(
                        f"{self._host} answered with more than {MAX_ANSWER_BYTES} bytes", is_transient=False
                    )
                # httpx's time-out bounds the wait for each part, not the whole answer.
                if time.monotonic() > deadline:
                    raise ScorerUnavailableError(
                        f"{self._host} did not finish its answer within {self._timeout_seconds:g} s", is_transient=True
                    )
        return bytes(content)


def _token(name: str, access: ScorerAccess) -> str:
    """The token, without surrounding white space. Raises `SecretMissingError`, whose message never holds the token."""
    if name not in access.tokens:
        raise SecretMissingError(
            f"`settings.secret` must name a secret of the project, got {name!r}: "
            "create it on the project's page, or name another"
        )
    token = access.tokens[name].strip()
    # Checked here, because httpx would refuse such a header with an error that quotes it.
    if not (token.isascii() and token.isprintable()):
        raise SecretMissingError(
            f"`settings.secret` must name a secret of printable ASCII characters, {name!r} holds others: enter it again"
        )
    return token


def retry_after_seconds(header: str | None, now: datetime | None = None) -> float | None:
    """The seconds of a `Retry-After` header (RFC 9110 §10.2.3), which holds seconds or a date; else `None`."""
    if header is None:
        return None
    if (number := header.strip()).isdecimal():
        return float(number)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max((at - (now or datetime.now(UTC))).total_seconds(), 0.0) if at.tzinfo else None
