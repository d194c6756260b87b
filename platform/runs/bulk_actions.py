"""One action on several runs: what can be done is done, and each refusal is told with its reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from accounts.models import User
from runs.command_services import request_command
from runs.models import Run
from runs.selectors import visible_runs
from runs.services import archive_run, set_notes_and_tags, unarchive_run
from runs.transitions import RunStateConflict
from worker.contracts.commands import CommandKind

MAX_RUNS = 500
"""Each takes some milliseconds, and a request should answer within seconds."""


class BulkAction(StrEnum):
    STOP = "stop"
    CANCEL = "cancel"
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    TAG = "tag"
    UNTAG = "untag"


@dataclass(frozen=True, slots=True)
class Refusal:
    id: UUID
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class BulkResult:
    done: tuple[UUID, ...]
    refused: tuple[Refusal, ...]


def act_on_runs(*, user: User, ids: Sequence[UUID], action: BulkAction, tag: str = "") -> BulkResult:
    """Each run by itself: a refusal leaves the others done. Runs that the user may not see are passed over. Raises
    `ValidationError` for a missing tag."""
    tag = tag.strip()
    if action in (BulkAction.TAG, BulkAction.UNTAG) and not tag:
        raise ValidationError({"tag": f"`tag` is missing: `{action}` needs the tag to add or to remove"})
    done: list[UUID] = []
    refused: list[Refusal] = []
    for run in visible_runs(user).filter(pk__in=ids):
        try:
            with transaction.atomic():
                _ACTIONS[action](user, run, tag)
            done.append(run.pk)
        except (RunStateConflict, PermissionDenied) as error:
            refused.append(Refusal(run.pk, run.name, str(error)))
        except ValidationError as error:
            refused.append(Refusal(run.pk, run.name, " ".join(error.messages)))
    return BulkResult(tuple(done), tuple(refused))


def _add_tag(user: User, run: Run, tag: str) -> None:
    if tag not in run.tags:
        set_notes_and_tags(user=user, run=run, tags=[*run.tags, tag])


def _remove_tag(user: User, run: Run, tag: str) -> None:
    if tag in run.tags:
        set_notes_and_tags(user=user, run=run, tags=[own for own in run.tags if own != tag])


_ACTIONS: dict[BulkAction, Callable[[User, Run, str], object]] = {
    BulkAction.STOP: lambda user, run, _: request_command(user=user, run=run, kind=CommandKind.STOP),
    BulkAction.CANCEL: lambda user, run, _: request_command(user=user, run=run, kind=CommandKind.CANCEL),
    BulkAction.ARCHIVE: lambda user, run, _: archive_run(user=user, run=run),
    BulkAction.UNARCHIVE: lambda user, run, _: unarchive_run(user=user, run=run),
    BulkAction.TAG: _add_tag,
    BulkAction.UNTAG: _remove_tag,
}
