"""Everything that is checked before a run is started, for the page *New run* and for scripts.

    spec ─► `check_spec` ─┬─ refused ─► that check alone: nothing else can be looked at
                          └─ valid ─► model, rewards, prompts, memory of devices and of hosts, store, embeddings, disk,
                                      project, queue, end

Invariant: a check looks, or says that it is unknown and why; none of them changes anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.models import Project
from runs.forks import ForkPoint
from runs.queue.queue_board import Times
from runs.spec_check import SpecReport, check_spec
from runs.start_checks.capacity_checks import disk_check, memory_check
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.start_checks.embeddings_check import embeddings_check
from runs.start_checks.host_memory_check import host_memory_check
from runs.start_checks.input_checks import model_check, prompts_check, rewards_check
from runs.start_checks.queue_checks import expected, project_check
from runs.start_checks.store_check import store_check


@dataclass(frozen=True, slots=True)
class StartChecks:
    checks: tuple[Check, ...]
    starts: Times | None = None
    """When the run would start if it were created now; None where that is unknown."""
    ends: Times | None = None


def start_checks(document: Mapping[str, Any] | str, project: Project, *, fork: ForkPoint | None = None) -> StartChecks:
    """The checks of a run that would be created in the project, of a spec as `check_spec` takes it."""
    report = check_spec(document, project, fork=fork)
    if report.spec is None:
        return StartChecks((_refused(report),))
    spec = report.spec
    looked = expected(spec, project, fork)
    checks = (
        Check(CheckName.SPEC, CheckState.FINE, f"Every setting is valid: {spec.algebra.describe()}."),
        model_check(spec),
        rewards_check(spec),
        prompts_check(spec, report.prompts),
        memory_check(spec),
        host_memory_check(spec, report.prompts),
        store_check(spec),
        embeddings_check(spec, report.prompts),
        disk_check(spec),
        project_check(spec, project),
        *looked.checks,
    )
    return StartChecks(checks, looked.starts, looked.ends)


def _refused(report: SpecReport) -> Check:
    path, (first, *_) = next(iter(report.errors.items()))
    number = sum(len(texts) for texts in report.errors.values())
    others = "" if number == 1 else f" {number - 1} more to put right."
    remedy = "`POST /runs:validate` names each with its field."
    return Check(CheckName.SPEC, CheckState.REFUSED, f"{first}.{others}", remedy, "" if path == "spec" else path)
