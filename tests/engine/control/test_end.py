import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
import ray

from worker.engine.__main__ import failure_reason, report_end
from worker.engine.actors.reports import GroupPlan
from worker.engine.actors.trainer import assemble_groups
from worker.engine.control.cluster_lanes import LanesLostError
from worker.engine.errors import NonFiniteError


def test_the_reason_of_a_failure_is_the_lanes_error_without_rays_wrapping() -> None:
    cause = NonFiniteError("loss", "group 3, member 1", float("nan"))
    wrapped = ray.exceptions.RayTaskError("accumulate", "the traceback", cause).as_instanceof_cause()
    assert failure_reason(wrapped) == str(cause)
    assert failure_reason(ZeroDivisionError("by zero")) == "ZeroDivisionError: by zero"


def test_an_attempt_that_lost_its_nodes_reports_no_end_so_that_another_goes_on() -> None:
    """Whatever it reported would end the run; `telemetry` has nothing that it could be reported by."""
    telemetry: Any = object()
    assert report_end(telemetry, LanesLostError("the nodes of trainer-0 have died")) == 1


@dataclass(frozen=True)
class NamedPart:
    """Takes the place of packed trajectories."""

    name: str

    def unpacked(self) -> str:
        return self.name


def test_flat_parts_of_trajectories_are_assembled_into_their_groups() -> None:
    plans = [GroupPlan(batch=0, group=group, advantages=(0.0,), num_parts=num) for group, num in ((2, 1), (5, 2))]
    parts: list[Any] = [NamedPart(name) for name in "abc"]
    groups = assemble_groups(plans, parts)
    found: list[tuple[int, Any]] = [(group.group, group.trajectories) for group in groups]
    assert found == [(2, ("a",)), (5, ("b", "c"))]
    with pytest.raises(ValueError, match="must hold 3 parts of trajectories as planned, got 2"):
        assemble_groups(plans, parts[:2])


@pytest.mark.parametrize("module", ["worker.engine.__main__", "worker.engine.reward.scorer"])
def test_driver_and_reward_lanes_start_without_torch(module: str) -> None:
    """Importing torch costs seconds and hundreds of MiB."""
    program = f"import sys, {module}; print([name for name in ('torch', 'diffusers') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
