"""Authorises reports for a run: only the token of its open attempt is accepted.

An older attempt, or any attempt of an ended run, gets 410 and exits (fencing).
"""

from uuid import UUID

from accounts.secrets import matches
from runs.models import Attempt


class TokenRefused(Exception):
    """There is no such run and attempt, or the token is not theirs: 401. The two are deliberately the same."""


class AttemptGone(Exception):
    """The token is correct but the attempt has ended: 410, and the driver exits."""


def authorise(*, run_id: UUID | str, attempt: int, token: str) -> Attempt:
    """The open attempt that `token` belongs to, with its `run`, of which the large columns are read when they are used.

    Raises `TokenRefused`, `AttemptGone`.
    """
    try:
        key = UUID(str(run_id))
    except ValueError as error:
        raise TokenRefused("the run token is not good for this run and attempt") from error
    rows = Attempt.objects.select_related("run").defer("run__prompts", "run__spec", "run__headline", "run__algebra")
    found = rows.filter(run_id=key, number=attempt).first()
    if found is None or not matches(token, found.token_hash):
        raise TokenRefused("the run token is not good for this run and attempt")
    if found.ended_at is not None or found.run.has_ended:
        raise AttemptGone(f"attempt {attempt} of run {key} is over: {found.detail or found.run.state}")
    if found.number != found.run.attempt:
        raise AttemptGone(f"attempt {attempt} of run {key} was followed by attempt {found.run.attempt}")
    return found
