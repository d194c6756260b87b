"""Sweeps of alice's."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Project, User
from runs.models import Sweep
from sweeps.services import create_sweep
from tests.web.sweeps.swept_runs import plan

MakeSweep = Callable[..., Sweep]


@pytest.fixture
def make_sweep(alice: User, project: Project) -> MakeSweep:
    def make(**fields: Any) -> Sweep:
        return create_sweep(user=alice, project=project, document=plan(**fields))

    return make
