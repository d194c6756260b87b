"""A run that would gain by more lanes."""

from collections.abc import Callable

import pytest

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes
from runs.models import Attempt, Run
from tests.web.runs.elastic_runs import at_work, measure


@pytest.fixture
def attempt(make_run: Callable[..., Run], project: Project) -> Attempt:
    """A run of one lane each, which generation holds up, on a pool of six lanes."""
    ensure_local_lanes(num_cpu_lanes=6)
    found = at_work(make_run, project)
    measure(found)
    return found
