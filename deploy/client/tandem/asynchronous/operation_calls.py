"""`client.operations`."""

import time
from asyncio import sleep
from collections.abc import AsyncIterator
from typing import Any

from pydantic import PrivateAttr

from tandem import rest_models
from tandem.asynchronous.session import Session
from tandem.errors import OperationFailed
from tandem.protocol import API

POLL_SECONDS = 2.0
"""The quickest of them, a preview, takes some seconds."""


class Operation(rest_models.Operation):
    """An operation as it was when it was read."""

    _session: Session = PrivateAttr()

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None

    async def reload(self) -> "Operation":
        """The operation as it is now."""
        return _attached(await self._session.get(self._path), self._session)

    async def wait(self, *, timeout: float | None = None, check: bool = True) -> "Operation":
        """The operation once it has ended.

        Raises:
            OperationFailed: it failed or was cancelled. Not with `check=False`.
            TimeoutError: it has not ended after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not (operation := await self.reload()).has_ended:
            if deadline is not None and time.monotonic() + POLL_SECONDS > deadline:
                raise TimeoutError(f"operation {self.id} is {operation.state} after {timeout} s")
            await sleep(POLL_SECONDS)
        if check and operation.state != "succeeded":
            raise OperationFailed(operation.id, operation.state, operation.problem or operation.detail)
        return operation

    async def cancel(self) -> "Operation":
        """Take it back. Raises `Conflict`, which says what is possible, where it cannot be."""
        return _attached(await self._session.post(f"{self._path}/cancel", None), self._session)

    @property
    def _path(self) -> str:
        return f"{API}/operations/{self.id}"


class Operations:
    """Long work that requests began: previews, commands, resizes, sweeps, tests of GPUs, drains, deletions."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(
        self, *, kind: str = "", state: str = "", run: str = "", mine: bool = False, request_id: str = ""
    ) -> AsyncIterator[Operation]:
        """Operations, newest first; pages are read as they are needed.

        Args:
            kind: one or several of preview, command, resize, sweep, gpu_test, drain, retention, separated by commas.
            state: one or several of waiting, running, succeeded, failed, cancelled, separated by commas.
            run: the id of the run that they concern.
            mine: only those that the token's user asked for.
            request_id: only those that this request began.
        """
        query = {"kind": kind, "state": state, "run": run, "mine": mine or None, "request_id": request_id}
        async for item in self._session.items(f"{API}/operations", **query):
            yield _attached(item, self._session)

    async def get(self, operation: str) -> Operation:
        """An operation by its id, which the answer that began it has as `operation`.

        Raises:
            NotFound: there is none that the token may see.
        """
        return await read_operation(self._session, operation)


async def read_operation(session: Session, operation: str) -> Operation:
    return _attached(await session.get(f"{API}/operations/{operation}"), session)


def _attached(answer: Any, session: Session) -> Operation:
    operation = Operation.model_validate(answer)
    operation._session = session
    return operation
