"""Changes what a waiting run asks for: its lanes, its pool, its priority.

Invariant: the run keeps its user's spec; what is asked for instead stands beside it (`Run.resized_lanes`), is checked
as a new run's spec is, and is audited.
"""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from pydantic import ValidationError as ContractError

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import Project, User
from audit.record import record
from runs.attempts import attempts
from runs.enqueue import enqueue_on_commit
from runs.legal_actions import legal_actions
from runs.models import Run
from runs.pool_check import pool_problems
from runs.queue.queue_changes import publish_queue
from runs.run_queue import WAITING_STATES
from runs.spec_check import errors_by_path
from runs.stream import lock_stream
from runs.transitions import RunStateConflict
from worker.contracts.lanes import ElasticSpec
from worker.contracts.names import Priority
from worker.contracts.run_spec import RunSpec
from worker.contracts.task_names import DISPATCH_RUNS

Lanes = Mapping[str, Any]
"""Fields of a spec's `lanes`."""


def with_lanes(spec: RunSpec, lanes: Lanes, project: Project) -> RunSpec:
    """The spec with other lanes, checked as a new run's. Raises `ValidationError` by path.

    Bounds of elastic lanes that do not hold the new numbers are dropped.
    """
    document = spec.model_dump(mode="json")
    document["lanes"] |= lanes
    try:
        checked = RunSpec.model_validate({**document, "elastic": ElasticSpec().model_dump()})
    except ContractError as error:
        raise ValidationError(dict(errors_by_path(error))) from error
    if not any(spec.elastic.problems(checked.lanes)):
        checked = checked.model_copy(update={"elastic": spec.elastic})
    if problems := pool_problems(checked, project):
        raise ValidationError(problems)
    return checked


@transaction.atomic
def change_lanes(*, user: User, run: Run, lanes: Lanes) -> Run:
    """Let a waiting run ask for other lanes. Raises `ValidationError` by path, `RunStateConflict` for a run that does
    not wait."""
    current = _waiting(user, run, "change_lanes")
    asked = with_lanes(current.sized_spec, lanes, current.project).lanes
    current.resized_lanes, current.pool = asked.model_dump(mode="json"), asked.pool
    current.save(update_fields=["resized_lanes", "pool"])
    record("run.change_lanes", current, user=user, project_id=current.project_id, **dict(lanes))
    _tell()
    return current


@transaction.atomic
def set_priority(*, user: User, run: Run, priority: str) -> Run:
    """Let a waiting run come sooner or later among those of its project; `priority` is the name of a `Priority`. Raises
    `RunStateConflict` for a run that does not wait."""
    current = _waiting(user, run, "priority")
    current.priority = list(Priority).index(next(known for known in Priority if known.value == priority))
    current.save(update_fields=["priority"])
    record("run.set_priority", current, user=user, project_id=current.project_id, priority=priority)
    _tell()
    return current


def _waiting(user: User, run: Run, wanted: str) -> Run:
    """The run, locked against dispatch until the transaction ends."""
    require_role(user, run.project, TO_CONTROL_RUNS)
    lock_stream(run.pk)
    current = Run.objects.select_related("project").get(pk=run.pk)
    if current.run_state not in WAITING_STATES or attempts.open_attempt(run.pk) is not None:
        raise RunStateConflict(wanted, current.run_state, legal_actions(current))
    return current


def _tell() -> None:
    enqueue_on_commit(DISPATCH_RUNS)
    publish_queue()
