"""The lines of the runs list, with a constant number of queries; `runs.selectors.run_body_for` makes one run's body."""

from collections.abc import Iterable

from accounts.access import roles_of
from accounts.models import User
from runs.lending.idle_lanes import idle_of
from runs.models import Run
from runs.run_body import ListedRun, listed_run
from runs.wait_reasons import why_waiting


def listed_runs(user: User, runs: Iterable[Run]) -> list[ListedRun]:
    runs = list(runs)
    waiting, idle = why_waiting(runs), idle_of(runs)
    roles = roles_of(user)
    return [
        listed_run(
            run,
            role=roles.get(run.project_id),
            waiting=waiting.get(run.pk, ""),
            warning=idle.get(run.pk, ""),
        )
        for run in runs
    ]
