"""One action on several runs: on those that allow it, or on all or none. Each refusal is told with its reason."""

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


class BulkRefused(Exception):
    """Not every run allows the action, so nothing was done."""

    def __init__(self, num_runs: int, refused: Sequence[Refusal]) -> None:
        self.refused = tuple(refused)
        super().__init__(f"{len(refused)} of {num_runs} runs refuse it, so it was done to none, as asked")


def act_on_runs(
    *, user: User, ids: Sequence[UUID], action: BulkAction, tag: str = "", all_or_none: bool = False
) -> BulkResult:
    """Each run by itself: a refusal leaves the others done, and runs that the user may not see are passed over. With
    `all_or_none` nothing is done where one refuses, or is not seen.

    Raises `ValidationError` for a missing tag, `BulkRefused`."""
    tag = tag.strip()
    if action in (BulkAction.TAG, BulkAction.UNTAG) and not tag:
        raise ValidationError({"tag": f"`tag` is missing: `{action}` needs the tag to add or to remove"})
    if not all_or_none:
        return _act_on_each(user, ids, action, tag)
    with transaction.atomic():
        result = _act_on_each(user, ids, action, tag)
        seen = {*result.done, *(refusal.id for refusal in result.refused)}
        unseen = [Refusal(run_id, "", "no such run") for run_id in dict.fromkeys(ids) if run_id not in seen]
        if refused := [*result.refused, *unseen]:
            raise BulkRefused(len(set(ids)), refused)
    return result


def _act_on_each(user: User, ids: Sequence[UUID], action: BulkAction, tag: str) -> BulkResult:
    done: list[UUID] = []
    refused: list[Refusal] = []
    # In one order, so that two requests for the same runs do not wait for each other.
    for run in visible_runs(user).filter(pk__in=ids).order_by("pk"):
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
