"""Every error of REST v1 as problem+json: `{type, title, status, detail, errors?, ...}`.

Unknown exceptions propagate: they are defects, which Django logs with their traceback and answers with 500.
"""

from http import HTTPStatus
from typing import Any, NotRequired

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DatabaseError
from django.http import Http404
from pydantic import with_config
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated, ValidationError
from rest_framework.response import Response
from rest_framework.views import set_rollback
from typing_extensions import TypedDict

from analysis.replay.replays import ReplayRefused
from api.database_circuit import CIRCUIT, is_away, is_crowded
from api.field_errors import WHOLE, FieldErrors, django_errors, drf_errors
from gallery.previews import PreviewStateConflict
from operations.operation_source import OperationConflict
from retention.asked_deletions import DeletionUnderWay, Grown, MoreThanShown
from runs.bulk_actions import BulkRefused
from runs.forks import ForkNeedsFiles
from runs.operation_ids import OperationKind, operation_id
from runs.planning.plan_cache import PlanningFailed
from runs.pool.pool_removal import PoolInUse
from runs.report_storage import FULL, is_full
from runs.resizing.resize_services import ResizeUnderWay
from runs.transitions import RunStateConflict
from sweeps.services import SweepStateConflict

CONTENT_TYPE = "application/problem+json"
AWAY = "the database does not answer: try again in a moment; runs go on meanwhile, and what they report is kept"
CROWDED = (
    "the server has more requests at once than connections to its database, and this one waited too long: try again in "
    "a moment, or let an administrator raise `TANDEM_WEB_CONNECTIONS`"
)


@with_config(use_attribute_docstrings=True, extra="allow")
class Problem(TypedDict):
    """Why a call was refused (RFC 9457); some refusals have further members, such as a run's state."""

    type: str
    title: str
    """The phrase of the HTTP status."""
    status: int
    detail: str
    """One sentence for the user."""
    errors: NotRequired[FieldErrors]
    """Messages by dotted field path; `__all__` holds those that concern no single field."""


class PreconditionFailed(APIException):
    """412: the object has another tag than `If-Match` says."""

    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "precondition_failed"


class Conflict(APIException):
    """409 with further members, such as the run's state and its legal actions."""

    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"

    def __init__(self, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.members = members


def problem(status: int, detail: str, *, errors: FieldErrors | None = None, **members: Any) -> dict[str, Any]:
    """The body of a problem; `errors` maps dotted field paths to messages."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        **members,
    }
    if errors:
        body["errors"] = errors
    return body


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook; None lets an unknown exception propagate."""
    body, headers = _describe(error)
    if body is None:
        return None
    set_rollback()
    return Response(body, status=body["status"], headers=headers, content_type=CONTENT_TYPE)


def _describe(error: Exception) -> tuple[dict[str, Any] | None, dict[str, str]]:
    match error:
        case ValidationError():
            return _invalid(drf_errors(error.detail)), {}
        case DjangoValidationError():
            return _invalid(django_errors(error)), {}
        case RunStateConflict():
            return problem(409, str(error), state=error.state.value, legal_actions=error.legal), {}
        case SweepStateConflict() | PreviewStateConflict():
            return problem(409, str(error), state=error.state), {}
        case OperationConflict():
            return problem(409, str(error), state=error.state, legal_actions=error.legal), {}
        case BulkRefused():
            told = [{"id": str(one.id), "name": one.name, "reason": one.reason} for one in error.refused]
            return problem(409, str(error), refused=told), {}
        case MoreThanShown():
            return problem(409, str(error), changed=[_changed(one) for one in error.grown]), {}
        case DeletionUnderWay():
            under_way = error.deletion and operation_id(OperationKind.RETENTION, error.deletion.pk)
            return problem(409, str(error), operation=under_way), {}
        case ResizeUnderWay():
            return problem(409, str(error), resize=str(error.resize.pk)), {}
        case PlanningFailed() | PoolInUse() | ReplayRefused() | ForkNeedsFiles():
            return problem(409, str(error)), {}
        case RequestDataTooBig():
            limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 2**20
            return problem(413, f"the body must be ≤ {limit} MiB, got more: send less at once"), {}
        case Http404():
            return problem(404, str(error) or "there is nothing here that you may see"), {}
        case PermissionDenied():
            return problem(403, str(error) or "your role does not allow this"), {}
        case Conflict():
            return problem(409, str(error.detail), **error.members), {}
        case DatabaseError() if is_crowded(error):
            return problem(503, CROWDED), {"Retry-After": "1"}
        case DatabaseError() if is_away(error):
            return problem(503, AWAY), {"Retry-After": str(CIRCUIT.retry_after)}
        case DatabaseError() if is_full(error):
            return problem(507, FULL), {}
        case NotAuthenticated() | AuthenticationFailed():
            header = getattr(error, "auth_header", None)
            detail = f"{error.detail} Log in, or send `Authorization: Bearer <token>`."
            return problem(error.status_code, detail), {"WWW-Authenticate": header} if header else {}
        case APIException():
            wait = getattr(error, "wait", None)
            return problem(error.status_code, str(error.detail)), {"Retry-After": str(int(wait))} if wait else {}
        case _:
            return None, {}


def _changed(grown: Grown) -> dict[str, Any]:
    now, shown = grown.now, grown.shown
    return {
        "kind": now.kind.value,
        "run": str(now.run.pk),
        "name": now.run.name,
        "shown": {"num_rows": shown["num_rows"], "num_files": shown["num_files"]},
        "now": {"num_rows": now.num_rows, "num_files": now.num_files},
    }


def _invalid(errors: FieldErrors) -> dict[str, Any]:
    """A 400 whose `detail` is the first error, prefixed with its field unless the message names it."""
    field, messages = next(iter(errors.items()))
    detail = messages[0] if field == WHOLE or messages[0].startswith("`") else f"`{field}`: {messages[0]}"
    return problem(400, detail, errors=errors)
