import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import ray

from tests.engine.conftest import SpecMaker
from tests.engine.driving import grants
from worker.engine.control import cluster_lanes
from worker.engine.control.clocks import DriverClock, LaneClock
from worker.engine.control.cluster_lanes import ClusterLanes

pytestmark = [pytest.mark.ray]
LANE = "rollout-0"


@pytest.fixture
def lanes(ray_address: str, make_spec: SpecMaker) -> Iterator[ClusterLanes]:
    """One lane that is up."""
    (grant,) = [grant for grant in grants(make_spec()) if grant.lane == LANE]
    lanes = ClusterLanes([grant], DriverClock())
    lanes.open()
    lanes.wait_until_up([LANE], lambda: None, lambda lanes: None)
    yield lanes
    lanes.close()


@contextmanager
def frozen(lanes: ClusterLanes) -> Iterator[None]:
    location = lanes[LANE].location
    assert location is not None
    os.kill(location.pid, signal.SIGSTOP)
    yield
    os.kill(location.pid, signal.SIGCONT)


def test_the_driver_hardly_waits_for_a_lane_that_does_not_answer_a_later_probe(lanes: ClusterLanes) -> None:
    measured = lanes[LANE].clock.offset_seconds
    assert measured is not None
    with frozen(lanes):
        began = time.monotonic()
        lanes.measure_clocks([LANE])
        assert time.monotonic() - began < 2.0
    assert lanes[LANE].clock.offset_seconds == measured


def test_a_lane_that_never_answers_its_first_probe_is_lost(
    lanes: ClusterLanes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_lanes, "FIRST_PROBE_SECONDS", 0.5)
    lanes[LANE].clock = LaneClock()
    with frozen(lanes):
        lanes.measure_clocks([LANE])
        with pytest.raises(ray.exceptions.RayActorError):
            ray.get(lanes[LANE].actor.clock.remote(), timeout=30)
    assert "rollout-0 did not answer" in caplog.text
