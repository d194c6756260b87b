"""Own prompts tried on a run's LoRA: one short job on a lane of its own, that reports back over HTTP.

    request_try ► queued ► (`try_jobs`) lane, launch ► job trades its code ► running ► pictures arrive ► done | failed

Invariant: the code is good once, the token only while the try runs; a try that gets no lane, or whose job never
answers, is failed once its deadline has passed, whoever looks.
"""

import posixpath
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import User
from catalog.selectors import resolve_base_model
from fleet.selectors import grant_of_try
from gallery import storage
from gallery.models import Try, TryImage, TryState
from gallery.selectors import adapters
from runs.enqueue import enqueue_on_commit
from runs.models import Run
from runs.secrets import hash_secret, matches, new_secret
from worker.contracts.task_names import TRY_PROMPTS
from worker.contracts.tries import MAX_TRY_PROMPTS, MAX_TRY_SAMPLES, TryImageName, TryJob

WAIT_LIMIT = timedelta(minutes=60)
"""For a lane."""
TIME_LIMIT = timedelta(minutes=10)
"""From the launch."""
MAX_PROMPT_CHARS = 2000
MAX_SEED = 2**31 - 1
LIVE = (TryState.QUEUED, TryState.RUNNING)


class TryRefused(Exception):
    """Not the code or token of this try: 401."""


class TryOver(Exception):
    """The try has ended: 410, the job exits."""


def request_try(*, user: User, run: Run, prompts: Sequence[str], num_samples: int = 4, seed: int = 0) -> Try:
    """Queue a try of the run's newest adapter. Raises `ValidationError` by field."""
    require_role(user, run.project, TO_CONTROL_RUNS)
    wanted = [prompt.strip() for prompt in prompts if prompt.strip()]
    _check(wanted, num_samples, seed)
    adapter = adapters(run.pk).first()
    if adapter is None:
        raise ValidationError(f"{run.name} has no adapter yet: wait until the run has exported one")
    with transaction.atomic():
        trial = Try.objects.create(
            run=run,
            adapter=adapter,
            prompts=wanted,
            num_samples=num_samples,
            seed=seed,
            created_by=user,
            deadline=timezone.now() + WAIT_LIMIT,
        )
        enqueue_on_commit(TRY_PROMPTS, str(trial.pk))
    return trial


@transaction.atomic
def trade_code(code: str) -> TryJob:
    """The job's first call. Raises `TryRefused`, `TryOver`; `ModelNotUsable` when the base model is gone."""
    key, _, secret = code.partition(".")
    trial = _locked(key)
    if trial.state not in LIVE or trial.deadline <= timezone.now():
        raise TryOver(f"the try is over: {current_state(trial)[1]}")
    if not matches(secret, trial.code_hash) or trial.state != TryState.QUEUED:
        raise TryRefused("the code is not known, or was used before: it is good once")
    lane = grant_of_try(trial.pk)
    if lane is None:
        raise TryOver("the try holds no lane any more")
    token = new_secret()
    trial.state, trial.token_hash = TryState.RUNNING.value, hash_secret(token)
    trial.save(update_fields=["state", "token_hash"])
    spec = trial.run.run_spec
    return TryJob(
        id=str(trial.pk),
        token=token,
        base_model_path=resolve_base_model(spec.base_model.path),
        family=spec.base_model.family,
        dtype=spec.base_model.dtype,
        device=lane.device,
        sampling=spec.sampling,
        files=trial.adapter.all_files,
        prompts=tuple(trial.prompts),
        num_samples=trial.num_samples,
        seed=trial.seed,
    )


def authorise(try_id: UUID, token: str) -> Try:
    """The running try that `token` belongs to. Raises `TryRefused`, `TryOver`."""
    trial = Try.objects.select_related("adapter", "run").filter(pk=try_id).first()
    if trial is None or not matches(token, trial.token_hash):
        raise TryRefused("the token is not good for this try")
    if trial.state != TryState.RUNNING or trial.deadline <= timezone.now():
        raise TryOver(f"the try is over: {current_state(trial)[1]}")
    return trial


def store_image(trial: Try, name: str, source: storage.Readable, sha256: str) -> TryImage:
    """A picture or clip of the job's; the same one again replaces itself. Raises as `storage.write` does."""
    try:
        which = TryImageName.parse(name)
    except ValueError as error:
        raise storage.ArtifactRefused(str(error)) from error
    if which.prompt_index >= len(trial.prompts) or which.index >= trial.num_samples:
        raise storage.ArtifactRefused(f"{name} is no picture of this try: it was asked for less")
    stored = storage.write(f"{trial.run_id}/tries/{trial.pk}/{name}", source, sha256)
    image, _ = TryImage.objects.update_or_create(
        trial=trial,
        **which.model_dump(exclude={"ending"}),
        defaults={"seed": trial.seed + which.index, "num_bytes": stored.num_bytes, "storage_key": stored.key},
    )
    return image


def image_name(image: TryImage) -> str:
    """As the job sent it: with the ending that it was stored under."""
    return posixpath.basename(image.storage_key)


def find_image(run_id: UUID, try_id: UUID, name: str) -> TryImage | None:
    try:
        which = TryImageName.parse(name)
    except ValueError:
        return None
    found = TryImage.objects.filter(trial=try_id, trial__run=run_id, **which.model_dump(exclude={"ending"})).first()
    return found if found is not None and image_name(found) == name else None


def finish(trial: Try, problem: str) -> None:
    """The job's last word. Missing pictures are a failure, whatever it says."""
    missing = 2 * len(trial.prompts) * trial.num_samples - trial.images.count()
    end(trial.pk, problem or (f"{missing} pictures did not arrive" if missing else ""))


def current_state(trial: Try) -> tuple[TryState, str]:
    """State and detail as they are now: a live try past its deadline has failed."""
    if trial.state in LIVE and trial.deadline <= timezone.now():
        if not trial.code_hash:
            return (
                TryState.FAILED,
                f"no lane was free for {_minutes(WAIT_LIMIT)} minutes: try again when runs have ended",
            )
        return TryState.FAILED, f"the cluster did not answer within {_minutes(TIME_LIMIT)} minutes: is it busy or away?"
    return TryState(trial.state), trial.detail


def _check(prompts: Sequence[str], num_samples: int, seed: int) -> None:
    errors: dict[str, str] = {}
    if not 1 <= len(prompts) <= MAX_TRY_PROMPTS:
        errors["prompts"] = f"`prompts` must hold 1 to {MAX_TRY_PROMPTS} prompts, got {len(prompts)}"
    elif any(len(prompt) > MAX_PROMPT_CHARS for prompt in prompts):
        errors["prompts"] = f"a prompt must be ≤ {MAX_PROMPT_CHARS} characters: shorten it"
    if not 1 <= num_samples <= MAX_TRY_SAMPLES:
        errors["num_samples"] = f"`num_samples` must be from 1 to {MAX_TRY_SAMPLES}, got {num_samples}"
    if not 0 <= seed <= MAX_SEED - MAX_TRY_SAMPLES:
        errors["seed"] = f"`seed` must be from 0 to {MAX_SEED - MAX_TRY_SAMPLES}, got {seed}"
    if errors:
        raise ValidationError({field: [message] for field, message in errors.items()})


def _locked(key: str) -> Try:
    try:
        return Try.objects.select_for_update(of=("self",)).select_related("run", "adapter").get(pk=UUID(key))
    except (Try.DoesNotExist, ValueError) as error:
        raise TryRefused("the code is not known") from error


def _minutes(limit: timedelta) -> int:
    return int(limit.total_seconds() // 60)


def end(try_id: UUID, problem: str) -> None:
    """Failed with `problem`, or done. A try that has ended stays as it is."""
    state = TryState.FAILED if problem else TryState.DONE
    Try.objects.filter(pk=try_id, state__in=LIVE).update(state=state.value, detail=problem[:2000], token_hash="")
