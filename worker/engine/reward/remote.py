"""`remote`: a scorer of the user's own, asked over HTTP. Protocol: `worker.engine.reward.wire`.

Invariant: the token is sent in the `Authorization` header, to the address of the spec and nowhere else (redirects are
refused), and never appears in an error or a log line.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.rewards import RemoteSettings
from worker.engine.errors import EngineError
from worker.engine.reward.base import RewardResult, ScorerUnavailableError
from worker.engine.reward.wire import CONTENT_TYPES, decode_answer, encode_request

PASSING_STATUSES = frozenset({408, 429})
"""Beside all of 5xx: worth another try."""


class SecretMissingError(EngineError):
    """A spec names a secret that the run was not given."""


class RemoteReward:
    """Raises `SecretMissingError` when the named token is not among `secrets`."""

    name = RewardName.REMOTE.value
    judges_clips = True

    def __init__(self, settings: RemoteSettings, secrets: Mapping[str, str], *, timeout_seconds: float) -> None:
        self._settings = settings
        kind = CONTENT_TYPES[settings.format]
        headers = {"Content-Type": kind, "Accept": kind}
        if settings.secret is not None:
            if settings.secret not in secrets:
                raise SecretMissingError(
                    f"`settings.secret` must name a secret of the project, got {settings.secret!r}: "
                    "create it on the project's page, or choose another"
                )
            headers["Authorization"] = f"Bearer {secrets[settings.secret]}"
        self._client = httpx.Client(headers=headers, timeout=timeout_seconds, follow_redirects=False)

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score uint8 pictures (N, H, W, 3) or clips (N, F, H, W, 3).

        Raises:
            ScorerUnavailableError: no answer, a status that is not 200, or an answer that breaks the protocol.
        """
        if not len(images):
            return RewardResult((), ())
        form = self._settings.format
        body = encode_request(images, prompts, scorer=self._settings.scorer, request_id=uuid.uuid4().hex, form=form)
        try:
            answer = self._client.post(self._settings.url, content=body)
        except httpx.HTTPError as error:
            raise ScorerUnavailableError(
                f"no answer from {self._host}: {error or type(error).__name__}", may_pass=True
            ) from error
        if answer.status_code != 200:
            raise ScorerUnavailableError(
                f"{self._host} answered with status {answer.status_code} {answer.reason_phrase}",
                may_pass=answer.status_code in PASSING_STATUSES or answer.status_code >= 500,
                wait_seconds=retry_after_seconds(answer.headers.get("Retry-After")),
            )
        return decode_answer(answer.content, form, len(prompts))

    @property
    def _host(self) -> str:
        return httpx.URL(self._settings.url).netloc.decode()


def retry_after_seconds(header: str | None, now: datetime | None = None) -> float | None:
    """What a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date; None when it says nothing usable."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max((at - (now or datetime.now(UTC))).total_seconds(), 0.0) if at.tzinfo else None
