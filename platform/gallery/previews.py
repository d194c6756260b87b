"""Previews: a user's own prompts on a run's trained version, by one short job on one lane that reports over HTTP.

    request_preview ► queued ► (`preview_jobs`) lane, launch ► job exchanges its code ► running ► pictures ► done |
    failed | cancelled

Invariant: the code is accepted once, and the token only while the preview runs. A preview that gets no lane, or whose
job never reports, counts as failed for every reader once its deadline has passed.
"""

import posixpath
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import User
from accounts.secrets import hash_secret, matches, new_secret
from audit.record import record
from catalog.base_models import resolve_base_model
from fleet.selectors import grant_of_preview
from gallery import storage
from gallery.artifacts import find_artifact
from gallery.models import Adapter, Preview, PreviewImage, PreviewState
from gallery.selectors import adapters
from runs.enqueue import enqueue_on_commit
from runs.models import Run
from worker.contracts.previews import MAX_PREVIEW_PROMPTS, MAX_PREVIEW_SAMPLES, PreviewImageName, PreviewJob
from worker.contracts.task_names import LAUNCH_PREVIEW

WAIT_LIMIT = timedelta(minutes=60)
"""Longest wait for a lane."""
TIME_LIMIT = timedelta(minutes=10)
"""Longest time from launch to the last report."""
MAX_PROMPT_CHARS = 2000
MAX_SEED = 2**31 - 1
LIVE = (PreviewState.QUEUED, PreviewState.RUNNING)


class PreviewRefused(Exception):
    """The code or token is not that of this preview: 401."""


class PreviewOver(Exception):
    """The preview has ended: 410, the job exits."""


class PreviewStateConflict(Exception):
    """A preview that has ended cannot be cancelled."""

    def __init__(self, state: PreviewState) -> None:
        self.state = state
        super().__init__(f"`cancel` is not possible: the preview is {state} already")


def request_preview(
    *,
    user: User,
    run: Run,
    prompts: Sequence[str],
    num_samples: int = 4,
    seed: int = 0,
    adapter_id: int | None = None,
) -> Preview:
    """Queue a preview of one of the run's adapters, by default the newest. Raises `ValidationError` by field."""
    require_role(user, run.project, TO_CONTROL_RUNS)
    wanted = [prompt.strip() for prompt in prompts if prompt.strip()]
    _check(wanted, num_samples, seed)
    adapter = _chosen(run, adapter_id)
    with transaction.atomic():
        preview = Preview.objects.create(
            run=run,
            adapter=adapter,
            prompts=wanted,
            num_samples=num_samples,
            seed=seed,
            created_by=user,
            deadline=timezone.now() + WAIT_LIMIT,
        )
        enqueue_on_commit(LAUNCH_PREVIEW, str(preview.pk))
        record(
            "preview.create",
            preview,
            user=user,
            project_id=run.project_id,
            run=run.pk,
            prompts=wanted,
            num_samples=num_samples,
            policy_version=adapter.policy_version,
        )
    return preview


def _chosen(run: Run, adapter_id: int | None) -> Adapter:
    """The adapter to preview, whose files are all there. Raises `ValidationError`."""
    rows = adapters(run.pk)
    adapter = rows.first() if adapter_id is None else rows.filter(pk=adapter_id).first()
    if adapter is None and adapter_id is not None:
        raise ValidationError({"adapter": f"`adapter` must be the id of a version of {run.name}, got {adapter_id}"})
    if adapter is None:
        raise ValidationError(f"{run.name} has no adapter yet: wait until the run has exported one")
    files = {file.path: find_artifact(run.pk, adapter.artifact_of(file), adapter.attempt) for file in adapter.all_files}
    gone = storage.missing([file.storage_key for file in files.values() if file is not None])
    lost = [path for path, file in files.items() if file is None or file.storage_key in gone]
    if lost:
        raise ValidationError(
            {
                "adapter": f"version {adapter.policy_version} of {run.name} cannot be previewed: the storage has "
                f"{', '.join(lost[:3])} no more; choose another version"
            }
        )
    return adapter


@transaction.atomic
def cancel_preview(*, user: User, preview: Preview) -> Preview:
    """Take back a preview that waits or is drawn; `preview_jobs` then stops its job and releases its lane. Raises
    `PreviewStateConflict`."""
    require_role(user, preview.run.project, TO_CONTROL_RUNS)
    locked = Preview.objects.select_for_update().get(pk=preview.pk)
    state = current_state(locked)[0]
    if state not in LIVE:
        raise PreviewStateConflict(state)
    _close(locked.pk, PreviewState.CANCELLED, f"{user.username} cancelled it")
    record("preview.cancel", locked, user=user, project_id=preview.run.project_id, run=preview.run_id)
    return Preview.objects.get(pk=locked.pk)


@transaction.atomic
def trade_code(code: str) -> PreviewJob:
    """Answer the job's first request. Raises `PreviewRefused`, `PreviewOver`; `ModelNotUsable` if the base model is
    gone."""
    key, _, secret = code.partition(".")
    preview = _locked(key)
    if preview.state not in LIVE or preview.deadline <= timezone.now():
        raise PreviewOver(f"the preview is over: {current_state(preview)[1]}")
    if not matches(secret, preview.code_hash) or preview.state != PreviewState.QUEUED:
        raise PreviewRefused("the code is not known, or was used before: it is accepted once")
    lane = grant_of_preview(preview.pk)
    if lane is None:
        raise PreviewOver("the preview holds no lane any more")
    token = new_secret()
    preview.state, preview.token_hash = PreviewState.RUNNING.value, hash_secret(token)
    preview.save(update_fields=["state", "token_hash"])
    spec = preview.run.run_spec
    return PreviewJob(
        id=str(preview.pk),
        token=token,
        base_model_path=resolve_base_model(spec.base_model.path),
        family=spec.base_model.family,
        dtype=spec.base_model.dtype,
        device=lane.device,
        sampling=spec.sampling,
        files=preview.adapter.all_files,
        prompts=tuple(preview.prompts),
        num_samples=preview.num_samples,
        seed=preview.seed,
    )


def authorise(preview_id: UUID, token: str) -> Preview:
    """The running preview that `token` belongs to. Raises `PreviewRefused`, `PreviewOver`."""
    preview = Preview.objects.select_related("adapter", "run").filter(pk=preview_id).first()
    if preview is None or not matches(token, preview.token_hash):
        raise PreviewRefused("the token is not that of this preview")
    if preview.state != PreviewState.RUNNING or preview.deadline <= timezone.now():
        raise PreviewOver(f"the preview is over: {current_state(preview)[1]}")
    return preview


def store_image(preview: Preview, name: str, source: storage.Readable, sha256: str) -> PreviewImage:
    """Store a picture or clip of the job; a repeated upload replaces the first. Raises as `storage.write` does."""
    try:
        which = PreviewImageName.parse(name)
    except ValueError as error:
        raise storage.ArtifactRefused(str(error)) from error
    if which.prompt_index >= len(preview.prompts) or which.index >= preview.num_samples:
        raise storage.ArtifactRefused(f"{name} is no picture of this preview: it asked for fewer")
    stored = storage.write(f"{preview.run_id}/previews/{preview.pk}/{name}", source, sha256)
    image, _ = PreviewImage.objects.update_or_create(
        preview=preview,
        **which.model_dump(exclude={"ending"}),
        defaults={"seed": preview.seed + which.index, "num_bytes": stored.num_bytes, "storage_key": stored.key},
    )
    return image


def image_name(image: PreviewImage) -> str:
    """The image's name as the job sent it, with the suffix that it was stored under."""
    return posixpath.basename(image.storage_key)


def find_image(run_id: UUID, preview_id: UUID, name: str) -> PreviewImage | None:
    try:
        which = PreviewImageName.parse(name)
    except ValueError:
        return None
    found = PreviewImage.objects.filter(
        preview=preview_id, preview__run=run_id, **which.model_dump(exclude={"ending"})
    ).first()
    return found if found is not None and image_name(found) == name else None


def finish(preview: Preview, problem: str) -> None:
    """Apply the job's last report. A preview with missing pictures fails, even if the report says that it succeeded."""
    missing = 2 * len(preview.prompts) * preview.num_samples - preview.images.count()
    end(preview.pk, problem or (f"{missing} pictures did not arrive" if missing else ""))


def launched_at(preview: Preview) -> datetime | None:
    """When its job was submitted; None while it waits for a lane."""
    return preview.deadline - TIME_LIMIT if preview.code_hash else None


def current_state(preview: Preview) -> tuple[PreviewState, str]:
    """State and detail now: a preview that is queued or running past its deadline has failed."""
    if preview.state in LIVE and preview.deadline <= timezone.now():
        if not preview.code_hash:
            return (
                PreviewState.FAILED,
                f"no lane was free for {_minutes(WAIT_LIMIT)} minutes: try again when runs have ended",
            )
        return (
            PreviewState.FAILED,
            f"the cluster did not answer within {_minutes(TIME_LIMIT)} minutes: is it busy or away?",
        )
    return PreviewState(preview.state), preview.detail


def _check(prompts: Sequence[str], num_samples: int, seed: int) -> None:
    errors: dict[str, str] = {}
    if not 1 <= len(prompts) <= MAX_PREVIEW_PROMPTS:
        errors["prompts"] = f"`prompts` must hold 1 to {MAX_PREVIEW_PROMPTS} prompts, got {len(prompts)}"
    elif any(len(prompt) > MAX_PROMPT_CHARS for prompt in prompts):
        errors["prompts"] = f"a prompt must be ≤ {MAX_PROMPT_CHARS} characters: shorten it"
    if not 1 <= num_samples <= MAX_PREVIEW_SAMPLES:
        errors["num_samples"] = f"`num_samples` must be from 1 to {MAX_PREVIEW_SAMPLES}, got {num_samples}"
    if not 0 <= seed <= MAX_SEED - MAX_PREVIEW_SAMPLES:
        errors["seed"] = f"`seed` must be from 0 to {MAX_SEED - MAX_PREVIEW_SAMPLES}, got {seed}"
    if errors:
        raise ValidationError({field: [message] for field, message in errors.items()})


def _locked(key: str) -> Preview:
    try:
        return Preview.objects.select_for_update(of=("self",)).select_related("run", "adapter").get(pk=UUID(key))
    except (Preview.DoesNotExist, ValueError) as error:
        raise PreviewRefused("the code is not known") from error


def _minutes(limit: timedelta) -> int:
    return int(limit.total_seconds() // 60)


def end(preview_id: UUID, problem: str) -> None:
    """End the preview, as failed with `problem` or as done. One that has ended stays as it is."""
    _close(preview_id, PreviewState.FAILED if problem else PreviewState.DONE, problem)


def _close(preview_id: UUID, state: PreviewState, detail: str) -> None:
    Preview.objects.filter(pk=preview_id, state__in=LIVE).update(
        state=state.value, detail=detail[:2000], token_hash="", ended_at=timezone.now()
    )
