"""What a call can fail with. Messages are the server's own sentences wherever it gave one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


class TandemError(Exception):
    """The base of every error that this package raises on purpose."""


class Unreachable(TandemError):
    """No server answered, or what answered is not Tandem."""


class NotSignedIn(TandemError):
    """No address or no token is known."""


class ChecksumMismatch(TandemError):
    """A file arrived with other bytes than the server announced."""


class RunFailed(TandemError):
    """A run that was waited for has failed."""

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(f"run {run_id} failed: {reason}")
        self.run_id = run_id


class OperationFailed(TandemError):
    """An operation that was waited for has failed, or was cancelled."""

    def __init__(self, operation_id: str, state: str, reason: str) -> None:
        super().__init__(f"operation {operation_id} {'was' if state == 'cancelled' else 'has'} {state}: {reason}")
        self.operation_id = operation_id
        self.state = state


class ApiError(TandemError):
    """The server refused (RFC 9457)."""

    def __init__(
        self,
        *,
        status: int,
        title: str,
        detail: str,
        errors: Mapping[str, Sequence[str]] | None = None,
        request_id: str = "",
        retry_after: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        """One sentence for the user."""
        self.errors = dict(errors or {})
        """Messages by dotted field path."""
        self.request_id = request_id
        """Names the request in the server's log."""
        self.retry_after = retry_after
        """Seconds after which the server asks to try again."""

    def __str__(self) -> str:
        """The detail, and each message that it does not hold already."""
        more = [
            # As the server does it in `detail`.
            message if message.startswith("`") else f"`{field}`: {message}"
            for field, messages in self.errors.items()
            for message in messages
            if message not in self.detail
        ]
        return "\n".join([self.detail, *more])


class Invalid(ApiError):
    """400, 413 or 422: the request cannot be taken as it is."""


class Unauthorized(ApiError):
    """401: the token is missing, unknown, expired or revoked."""


class Forbidden(ApiError):
    """403: the user's role or the token's scopes do not allow this."""


class NotFound(ApiError):
    """404: there is nothing here that the token may see."""


class Conflict(ApiError):
    """409: the state of things does not allow this now."""


class PreconditionFailed(ApiError):
    """412: it was changed since it was read."""


class RateLimited(ApiError):
    """429: too many requests, still so after all repeats."""


class ServerError(ApiError):
    """5xx: the server failed, still so after all repeats."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: Invalid,
    422: Invalid,
    429: RateLimited,
}


def refusal(response: "httpx.Response") -> ApiError:
    """The error of an answer with a status ≥ 400 whose body was read: a problem, or anything else."""
    try:
        body = response.json()
    except ValueError:
        body = None
    problem: dict[str, Any] = body if isinstance(body, dict) else {}
    status = response.status_code
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    return kind(
        status=status,
        title=str(problem.get("title", "")),
        detail=str(problem.get("detail") or f"the server answered {status} without a reason"),
        errors=problem.get("errors"),
        request_id=response.headers.get("X-Request-ID", ""),
        retry_after=response.headers.get("Retry-After"),
    )
