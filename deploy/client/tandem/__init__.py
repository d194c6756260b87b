"""Tandem from Python: `Client` and `AsyncClient`.

    import tandem

    with tandem.Client() as client:
        run = client.runs.create(Path("spec.yaml"), name="first")
        run.wait().metrics(["reward/mean"])

Nothing is loaded before it is used: `tandem --help` needs neither httpx nor the models.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tandem.asynchronous.client import AsyncClient
    from tandem.errors import (
        ApiError,
        ChecksumMismatch,
        Conflict,
        Forbidden,
        Invalid,
        NotFound,
        NotSignedIn,
        OperationFailed,
        PreconditionFailed,
        RateLimited,
        RunFailed,
        ServerError,
        TandemError,
        Unauthorized,
        Unreachable,
    )
    from tandem.synchronous.client import Client

_ELSEWHERE = {"AsyncClient": "tandem.asynchronous.client", "Client": "tandem.synchronous.client"}

__all__ = [
    "ApiError",
    "AsyncClient",
    "ChecksumMismatch",
    "Client",
    "Conflict",
    "Forbidden",
    "Invalid",
    "NotFound",
    "NotSignedIn",
    "OperationFailed",
    "PreconditionFailed",
    "RateLimited",
    "RunFailed",
    "ServerError",
    "TandemError",
    "Unauthorized",
    "Unreachable",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "tandem.errors")), name)
