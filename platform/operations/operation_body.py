"""An operation as plain JSON, as REST sends it. The typed dictionaries define the JSON, and the schema is made from
them."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from runs.operation_ids import OperationKind
from runs.run_body import IsoTime
from worker.contracts.base import JsonOf


class OperationState(StrEnum):
    WAITING = "waiting"
    """It was asked for, and nothing works on it yet."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """It was taken back, or something else was decided, before it was done."""


UNDER_WAY = (OperationState.WAITING, OperationState.RUNNING)


@with_config(use_attribute_docstrings=True)
class OperationProgress(TypedDict):
    """How much of an operation is done."""

    done: int
    total: int
    unit: str
    """What is counted, such as `pictures`."""


@with_config(use_attribute_docstrings=True)
class OperationTarget(TypedDict):
    """What an operation is about."""

    type: Literal["run", "sweep", "gpu", "node", "retention"]
    id: str
    name: str
    link: str
    """Its address below this server."""


@with_config(use_attribute_docstrings=True)
class OperationBody(TypedDict):
    """Long work that a request began."""

    id: str
    """`<kind>-<id of the row that holds it>`."""
    kind: Annotated[str, JsonOf(OperationKind)]
    action: str
    """What was asked for: the kind, or of a `command` which one."""
    state: Annotated[str, JsonOf(OperationState)]
    detail: str
    """What it waits for, or what was said of it; empty for nothing."""
    problem: str
    """Why it failed; empty where it has not."""
    progress: OperationProgress | None
    """Null where nothing is counted."""
    target: OperationTarget
    project: str | None
    """Id of the project; null for work on the pool."""
    requested_by: str | None
    """Name of the user, or of the part of Tandem; null for an account that was deleted."""
    request_id: str
    """`X-Request-ID` of the request that began it, as the audit log has it; empty where it has none."""
    created_at: IsoTime
    started_at: IsoTime | None
    """Null while nothing works on it, and where that is not noted."""
    ended_at: IsoTime | None
    result: str
    """Address of what comes of it, below this server."""
    can_cancel: bool
    """Whether you may cancel it now."""
