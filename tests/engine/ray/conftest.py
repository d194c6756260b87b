"""Real drivers started on the session's Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import SpecMaker
from tests.engine.driving import ONE_LANE, Driven, bootstrap_answer, grants, start_driver
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.run_spec import RunSpec
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes


@pytest.fixture
def lanes(ray_address: str, make_spec: SpecMaker) -> Iterator[ClusterLanes]:
    """One lane that is up."""
    (grant,) = [grant for grant in grants(make_spec()) if grant.lane == ONE_LANE]
    lanes = ClusterLanes([grant], DriverClock())
    lanes.open()
    lanes.wait_until_up([ONE_LANE], lambda: None, lambda lanes: None)
    yield lanes
    lanes.close()


@pytest.fixture
def drive(ray_address: str, ingest: Ingest, tiny_checkpoint: str, tmp_path: Path) -> Iterator[Callable[..., Driven]]:
    """Start a driver for a spec, as `python -m <program>`. Fields of the bootstrap answer may be given by keyword."""
    started: list[Driven] = []
    # Otherwise a driver posts every 2 s, in which a fast machine ends a short run before the test has done its part.
    ingest.is_watched = True

    def start(spec: RunSpec, program: Sequence[str] = ("worker.engine",), **changes: Any) -> Driven:
        answer = bootstrap_answer(spec, tiny_checkpoint, tmp_path / "checkpoints", **changes)
        started.append(start_driver(ingest, answer, ray_address, program))
        return started[-1]

    yield start
    for driven in started:
        driven.kill()
