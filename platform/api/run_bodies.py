"""Bodies of many runs with a constant number of queries; `runs.selectors.run_body_for` makes that of one."""

from collections.abc import Iterable

from accounts.models import Membership, User
from runs.lending.idle_lanes import idle_of
from runs.models import Run
from runs.run_body import RunBody, run_body
from runs.wait_reasons import why_waiting


def run_bodies(user: User, runs: Iterable[Run]) -> list[RunBody]:
    runs = list(runs)
    waiting, idle = why_waiting(runs), idle_of(runs)
    roles = dict(Membership.objects.filter(user=user).values_list("project_id", "role"))
    return [
        run_body(
            run,
            role=roles.get(run.project_id),
            waiting=waiting.get(run.pk, ""),
            warning=idle.get(run.pk, ""),
        )
        for run in runs
    ]
