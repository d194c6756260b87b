"""The launch task: claims the attempt, creates its single-use code, submits its job.

Invariant: of any number of launch tasks for one attempt exactly one submits. The code exists only in the job's
environment; the database stores its hash.
"""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.secrets import hash_secret, new_secret
from catalog.base_models import ModelNotUsable, resolve_base_model
from catalog.scorers import scorer_problems
from runs.attempts import attempts
from runs.attempts.failure import describe_failure
from runs.cluster import ClusterGateway, ClusterUnavailable
from runs.models import Attempt, AttemptOutcome
from runs.run_traces import trace_environment, trace_launch
from runs.stream import lock_stream
from runs.transitions import move
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE
from worker.contracts.states import RunState

BOOTSTRAP_LIFETIME = timedelta(minutes=5)
ACTOR = "launch"


def launch(*, run_id: UUID, number: int, gateway: ClusterGateway) -> bool:
    """Submit the attempt's job; False if it was claimed already, or if the cluster is unavailable and it will be
    retried."""
    code = new_secret()
    expires_at = timezone.now() + BOOTSTRAP_LIFETIME
    attempt = attempts.claim_launch(run_id, number, code_hash=hash_secret(code), expires_at=expires_at)
    if attempt is None:
        return False
    try:
        resolve_base_model(attempt.run.run_spec.base_model.path)
    except ModelNotUsable as error:
        _fail(attempt, str(error))
        return False
    problems = scorer_problems(attempt.run.run_spec, attempt.run.project)
    if problems:
        _fail(attempt, next(iter(problems.values())))
        return False
    env = {
        BOOTSTRAP_CODE_VARIABLE: f"{attempt.pk}.{code}",
        PUBLIC_URL_VARIABLE: settings.TANDEM_PUBLIC_URL,
        **trace_environment(run_id, number),
    }
    began = timezone.now()
    try:
        gateway.submit(attempt.submission_id, env)
    except ClusterUnavailable as error:
        attempts.give_up_claim(attempt, detail=f"the job could not be submitted: {error}")
        trace_launch(run_id, number, began, failure=str(error))
        return False
    trace_launch(run_id, number, began)
    return True


@transaction.atomic
def _fail(attempt: Attempt, reason: str) -> None:
    run_id = attempt.run_id
    lock_stream(run_id)
    if attempts.close(run_id, attempt.number, AttemptOutcome.CLOSED, detail=reason):
        failure = describe_failure(attempt.run.run_spec, reason=reason)
        move(run_id, [RunState.STARTING], RunState.FAILED, reason=reason, actor=ACTOR, changes={"failure": failure})
