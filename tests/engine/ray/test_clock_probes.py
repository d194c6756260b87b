import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import ray

from tests.engine.driving import ONE_LANE
from worker.engine.control import cluster_lanes
from worker.engine.control.clocks import LaneClock
from worker.engine.control.cluster_lanes import ClusterLanes

pytestmark = [pytest.mark.ray]


@contextmanager
def frozen(lanes: ClusterLanes) -> Iterator[None]:
    location = lanes[ONE_LANE].location
    assert location is not None
    os.kill(location.pid, signal.SIGSTOP)
    yield
    os.kill(location.pid, signal.SIGCONT)


def test_the_driver_hardly_waits_for_a_lane_that_does_not_answer_a_later_probe(lanes: ClusterLanes) -> None:
    measured = lanes[ONE_LANE].clock.offset_seconds
    assert measured is not None
    with frozen(lanes):
        began = time.monotonic()
        lanes.measure_clocks([ONE_LANE])
        assert time.monotonic() - began < 2.0
    assert lanes[ONE_LANE].clock.offset_seconds == measured


def test_a_lane_that_never_answers_its_first_probe_is_lost(
    lanes: ClusterLanes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_lanes, "FIRST_PROBE_SECONDS", 0.5)
    lanes[ONE_LANE].clock = LaneClock()
    with frozen(lanes):
        lanes.measure_clocks([ONE_LANE])
        with pytest.raises(ray.exceptions.RayActorError):
            ray.get(lanes[ONE_LANE].actor.clock.remote(), timeout=30)
    assert "rollout-0 did not answer" in caplog.text
