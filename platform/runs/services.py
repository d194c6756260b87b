"""Writes by users to runs: creating, editing, archiving, deleting. Commands to a live run are in
`runs.command_services`.

Everything is keyword-only, takes the user, and asks `accounts.access`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_CREATE_RUNS, TO_DELETE_RUNS, TO_EDIT_RUNS, require_role
from accounts.models import Project, User
from audit.record import record
from audit.request_context import current_request
from live.publish import publish_project
from runs.checkpoint_files import CheckpointGone
from runs.enqueue import enqueue_on_commit
from runs.fork_release import release_of_deleted
from runs.forks import ForkPoint, require_no_waiting_forks
from runs.legal_actions import legal_actions
from runs.models import MAX_NAME_CHARS, Run, RunStream
from runs.pool.pool_removal import require_pool
from runs.run_body import run_row
from runs.spec_check import SpecReport, check_spec
from runs.spec_columns import spec_columns
from runs.stream import lock_stream
from runs.transitions import RunStateConflict, append_transition
from worker.contracts.prompts import dump_prompts
from worker.contracts.run_spec import RunSpec
from worker.contracts.task_names import DELETE_ARTIFACTS, DELETE_CHECKPOINTS, DISPATCH_RUNS

MAX_TAGS = 20
MAX_TAG_CHARS = 40
MAX_NOTES_CHARS = 20_000

SpecDocument = RunSpec | Mapping[str, Any] | str


def create_run(
    *,
    user: User,
    project: Project,
    name: str,
    spec: SpecDocument,
    parent: Run | None = None,
    fork: ForkPoint | None = None,
    notes: str = "",
    tags: Iterable[str] = (),
    preset: str = "",
    origin: str = "",
) -> Run:
    """A queued run, which begins from the checkpoint `fork` of its parent, or else from the base model. `origin` says
    in its history what made it; empty for its user.

    Raises `ValidationError`, keyed by field (`name`, `tags`, `checkpoint`, `spec.batch.group_size`, …).
    """
    require_role(user, project, TO_CREATE_RUNS)
    report = check_spec(spec, project, fork=fork)
    checked = _require_valid(report)
    with transaction.atomic():
        require_pool(checked.lanes.pool, "spec.lanes.pool")
        run = Run(
            project=project,
            name=_checked_name(name),
            created_by=user,
            parent=parent,
            traceparent=current_request().traceparent,
            preset=preset or (parent.preset if parent is not None else ""),
            prompts=dump_prompts(report.prompts),
            notes=_checked_notes(notes),
            tags=_checked_tags(tags),
            **spec_columns(checked),
            **({} if fork is None else fork.columns()),
        )
        run.run_spec = checked
        run.save(force_insert=True)
        RunStream.objects.create(run=run)
        _record_creation(run, user, fork, origin)
        enqueue_on_commit(DISPATCH_RUNS)
        if fork is not None:
            # Last, since what is held for a run that is then refused would stay for ever.
            _hold(fork)
    return run


def _record_creation(run: Run, user: User, fork: ForkPoint | None, origin: str) -> None:
    begun = "created" if fork is None else f"forked from batch {fork.batch} of {fork.parent.name}"
    reason = f"{begun} by {origin}" if origin else begun
    append_transition(run, old="", reason=reason, actor=user.username)
    changes: dict[str, Any] = {"parent": run.parent_id, "forked_batch": run.forked_batch}
    record("run.create", run, user=user, project_id=run.project_id, **changes)


def duplicate_run(*, user: User, run: Run, name: str | None = None, spec: SpecDocument | None = None) -> Run:
    """Create a run like `run`, with `spec` instead of its own if given (edit and rerun). Its parent is `run`; it begins
    from the base model."""
    return create_run(
        user=user,
        project=run.project,
        name=name or _next_name(run.name),
        spec=run.spec if spec is None else spec,
        parent=run,
        tags=run.tags,
    )


def set_notes_and_tags(*, user: User, run: Run, notes: str | None = None, tags: Iterable[str] | None = None) -> Run:
    """Set notes or tags; None leaves them as they are. Raises `ValidationError`."""
    changes: dict[str, Any] = {}
    if notes is not None:
        changes["notes"] = _checked_notes(notes)
    if tags is not None:
        changes["tags"] = _checked_tags(tags)
    return _edit("run.annotate", user, run, changes)


def rename_run(*, user: User, run: Run, name: str) -> Run:
    return _edit("run.rename", user, run, {"name": _checked_name(name)})


def archive_run(*, user: User, run: Run) -> Run:
    """Hide an ended run from the list. Raises `RunStateConflict` for a run that has not ended."""
    require_role(user, run.project, TO_EDIT_RUNS)
    _require_ended(run, "archive")
    return _edit("run.archive", user, run, {"archived_at": run.archived_at or timezone.now()})


def unarchive_run(*, user: User, run: Run) -> Run:
    return _edit("run.unarchive", user, run, {"archived_at": None})


def delete_run(*, user: User, run: Run) -> None:
    """Delete an ended run with its rows; tasks delete its files afterwards. Raises `RunStateConflict`,
    `ForkNeedsFiles`."""
    require_role(user, run.project, TO_DELETE_RUNS)
    with transaction.atomic():
        lock_stream(run.pk)
        locked = Run.objects.get(pk=run.pk)
        _require_ended(locked, "delete")
        require_no_waiting_forks(locked)
        release_of_deleted(locked)
        enqueue_on_commit(DELETE_CHECKPOINTS, str(run.pk))
        enqueue_on_commit(DELETE_ARTIFACTS, str(run.pk))
        record("run.delete", locked, user=user, project_id=locked.project_id, state=locked.state)
        locked.delete()


def _edit(action: str, user: User, run: Run, changes: Mapping[str, Any]) -> Run:
    require_role(user, run.project, TO_EDIT_RUNS)
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**changes)
        run.refresh_from_db(fields=list(changes))
        publish_project(run.project_id, run_row(run))
        record(action, run, user=user, project_id=run.project_id, **changes)
    return run


def _require_ended(run: Run, wanted: str) -> None:
    if not run.has_ended:
        raise RunStateConflict(wanted, run.run_state, legal_actions(run))


def _hold(fork: ForkPoint) -> None:
    try:
        fork.hold()
    except CheckpointGone as error:
        raise ValidationError(
            {"checkpoint": f"the checkpoint of batch {fork.batch} cannot be forked: {error}; choose one that is kept"}
        ) from error


def _require_valid(report: SpecReport) -> RunSpec:
    if report.spec is None:
        raise ValidationError({f"spec.{path}".replace("spec.spec", "spec"): e for path, e in report.errors.items()})
    return report.spec


def _checked_name(name: str) -> str:
    stripped = name.strip()
    if not 1 <= len(stripped) <= MAX_NAME_CHARS:
        raise ValidationError({"name": f"`name` must have 1 to {MAX_NAME_CHARS} characters, got {len(stripped)}"})
    return stripped


def _checked_notes(notes: str) -> str:
    if len(notes) > MAX_NOTES_CHARS:
        raise ValidationError(
            {"notes": f"`notes` must be ≤ {MAX_NOTES_CHARS} characters, got {len(notes)}: shorten them"}
        )
    return notes


def _checked_tags(tags: Iterable[str]) -> list[str]:
    kept = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(kept) > MAX_TAGS:
        raise ValidationError({"tags": f"a run must have ≤ {MAX_TAGS} tags, got {len(kept)}: keep the useful ones"})
    long = [tag for tag in kept if len(tag) > MAX_TAG_CHARS]
    if long:
        raise ValidationError({"tags": f"a tag must be ≤ {MAX_TAG_CHARS} characters, got `{long[0][:60]}`"})
    return kept


def _next_name(name: str) -> str:
    """`demo` → `demo 2` → `demo 3`, within the column's length."""
    stem, _, number = name.rpartition(" ")
    return f"{stem[:110]} {int(number) + 1}" if stem and number.isdigit() else f"{name[:110]} 2"
