"""The driver's first request: it exchanges a single-use code for the spec, the lanes and a run token.

Invariant: a code is accepted once, within five minutes, for the run's open attempt. Only hashes of code and token are
stored.
"""

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.secrets import hash_secret, matches, new_secret
from catalog.base_models import resolve_base_model
from catalog.prompt_pictures import with_resolved_pictures
from catalog.scorers import scorer_access, with_resolved_weights
from fleet.selectors import grants_with_devices
from runs.checkpoint_files import checkpoints_url
from runs.forks import origin_of
from runs.models import Attempt, Run
from runs.planning.plan_revisions import replan_basis
from runs.planning.prior_costs import prior_costs
from runs.stream import lock_stream
from worker.contracts.ingest import BootstrapAnswer, PromptsAnswer
from worker.contracts.prompts import parse_prompts


class BootstrapRefused(Exception):
    """The code is unknown, used or expired. The ingest answers 401, and the driver exits."""


@transaction.atomic
def trade_code(code: str) -> BootstrapAnswer:
    """Exchange the code for what the driver needs. Raises `BootstrapRefused`; `ModelNotUsable` if the model is gone."""
    attempt_id, _, secret = code.partition(".")
    found = (
        Attempt.objects.filter(pk=int(attempt_id)).first() if attempt_id.isascii() and attempt_id.isdigit() else None
    )
    if found is None or not matches(secret, found.bootstrap_code_hash):
        raise BootstrapRefused("the bootstrap code is not known")
    lock_stream(found.run_id)
    attempt = Attempt.objects.select_related("run__project").get(pk=found.pk)
    now = timezone.now()
    if attempt.bootstrap_used_at is not None:
        raise BootstrapRefused("the bootstrap code was used before: it is good once")
    if attempt.ended_at is not None:
        raise BootstrapRefused(f"attempt {attempt.number} has ended: {attempt.detail}")
    if attempt.bootstrap_expires_at is None or attempt.bootstrap_expires_at <= now:
        raise BootstrapRefused("the bootstrap code has expired: it is good for five minutes")
    token = new_secret()
    attempt.bootstrap_used_at = attempt.silent_from = now
    attempt.token_hash = hash_secret(token)
    attempt.save(update_fields=["bootstrap_used_at", "silent_from", "token_hash"])
    Run.objects.filter(pk=attempt.run_id).update(last_heartbeat_at=now)
    return _answer(attempt, token)


def prompts_of(attempt: Attempt) -> PromptsAnswer:
    """The prompts of an attempt's run, as the engine gets them. Raises `PictureNotUsable` when a picture is gone."""
    return PromptsAnswer(prompts=with_resolved_pictures(parse_prompts(attempt.run.prompts)))


def _answer(attempt: Attempt, token: str) -> BootstrapAnswer:
    run = attempt.run
    spec = attempt.concrete_spec
    granted = grants_with_devices(run.pk, attempt.number)
    lanes = tuple(grant for grant, _ in granted)
    device_of = {grant.lane: device for grant, device in granted}
    return BootstrapAnswer(
        run=run.pk,
        attempt=attempt.number,
        token=token,
        spec=with_resolved_weights(spec),
        base_model_path=resolve_base_model(spec.base_model.path),
        scorer_access=scorer_access(spec, run.project),
        lanes=lanes,
        checkpoints=checkpoints_url(run.pk, attempt.number),
        resume_from=attempt.resumed_from or None,
        origin=origin_of(run),
        stop_seconds=settings.TANDEM_MAX_STOP_SECONDS,
        prior_costs=prior_costs(attempt, lanes, device_of),
        replan=replan_basis(attempt, lanes, device_of),
    )
