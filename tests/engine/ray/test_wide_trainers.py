"""Trainer lanes of two GPUs on real Ray: a process for each GPU makes every call of its lane. The GPUs are recorded
ones, so that all compute on the CPU."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import ray
import torch

from tests.engine.conftest import SpecMaker
from tests.engine.driving import Driven, grants
from tests.engine.ray.local_versions import distance_from_local
from tests.engine.ray.reported import kinds
from tests.engine.ray.wide_grants import pids_of_actors, until, widened
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.engine.actors.follow_watch import FollowWatch
from worker.engine.actors.reports import CallReport
from worker.engine.actors.trainer import TrainerActor
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ACTOR_CLASSES, ClusterLanes
from worker.engine.errors import FollowerLostError, LaneSpreadError, NonFiniteError

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]

NUM_BATCHES = 2
LANE = "trainer-0"


def wide_trainers(grant: LaneGrant) -> LaneGrant:
    return widened(grant) if grant.role is LaneRole.TRAINER else grant


@pytest.mark.parametrize("config", ["zero1", "zero3"])
def test_lanes_of_two_gpus_train_the_weights_of_one_process(
    drive: Callable[..., Driven],
    make_spec: SpecMaker,
    tiny_checkpoint: str,
    tmp_path: Path,
    process_group: None,
    config: str,
) -> None:
    sections: dict[str, Any] = {
        "num_batches": NUM_BATCHES,
        "batch": {"micro_batch_size": 2, "fragment_size": 2},
        "deepspeed": {"config": config},
        "evaluation": {"every_num_batches": None},
        "pipeline": {"tag": "greedy"},
    }
    spec = make_spec(**sections, lanes={"num_rollout": 1, "num_trainer": 2})
    driven = drive(spec, lanes=tuple(map(wide_trainers, grants(spec))))
    driven.until(lambda: len(pids_of_actors("Trainer")) == 4)
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    ingest = driven.ingest
    assert all(gate["passed"] for gate in ingest.of_type("gate")) and len(ingest.of_type("gate")) == NUM_BATCHES
    spans = [span for event in ingest.of_type("spans") for span in event["spans"]]
    assert {span["lane"] for span in spans if span["kind"] == "train"} == {"trainer-0", "trainer-1"}
    assert until(lambda: not pids_of_actors("Trainer")), "no process outlives the run"

    assert distance_from_local(ingest, make_spec(**{**sections, "pipeline": {}}), tiny_checkpoint, tmp_path) < 1e-4


def test_a_lent_lane_of_two_gpus_generates_on_both(drive: Callable[..., Driven], make_spec: SpecMaker) -> None:
    # Batches of a quarter of a second, more than a busy machine makes before the run hears of the pause.
    spec = make_spec(num_batches=200, batch={"fragment_size": 1}, pipeline={"tag": "greedy"})
    driven = drive(spec, lanes=tuple(map(wide_trainers, grants(spec))))
    driven.until_batch(1)
    # Paused first, since a tiny batch ends before a lane could be stopped during it.
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    rollout = driven.pids()["rollout-0"]
    os.kill(rollout, signal.SIGSTOP)
    driven.command("c2", "resume")
    driven.until(lambda: "lent_generate" in kinds(driven, LANE))
    # The driver may have started a lane again that did not answer.
    with suppress(ProcessLookupError):
        os.kill(rollout, signal.SIGCONT)
    driven.command("c3", "stop")
    assert driven.finish() == 0
    assert {"pull", "lent_generate", "train"} <= kinds(driven, LANE)
    assert all(gate["passed"] for gate in driven.ingest.of_type("gate"))


def test_a_gang_that_lost_one_gpu_of_a_lane_goes_on_from_its_checkpoint(
    drive: Callable[..., Driven], make_spec: SpecMaker
) -> None:
    spec = make_spec(num_batches=8, checkpoint={"every_num_batches": 1})
    driven = drive(spec, lanes=tuple(map(wide_trainers, grants(spec))))
    driven.until_batch(2)
    before = driven.pids()[LANE]
    (follower,) = pids_of_actors("Trainer") - {before}
    os.kill(follower, signal.SIGKILL)
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    assert driven.pids()[LANE] != before
    messages = [event["message"] for event in driven.ingest.of_type("log")]
    assert any(f"GPU 1 of lane `{LANE}`" in message for message in messages)
    assert driven.reported_batches() == set(range(1, 9))
    assert until(lambda: not pids_of_actors("Trainer")), "no process outlives the run"


def test_trainer_lanes_of_unlike_numbers_of_gpus_are_no_gang(
    drive: Callable[..., Driven], make_spec: SpecMaker
) -> None:
    spec = make_spec(num_batches=1, lanes={"num_rollout": 1, "num_trainer": 2})
    driven = drive(spec, lanes=tuple(widened(grant) if grant.lane == LANE else grant for grant in grants(spec)))
    assert driven.finish() != 0
    assert driven.states()[-1] == "failed"
    said = driven.ingest.of_type("state")[-1]["reason"]
    assert "must have equally many GPUs, got `trainer-0` 2, `trainer-1` 1" in said


@ray.remote
def ends_after(seconds: float, failure: Exception | None) -> None:
    """A follower's call."""
    time.sleep(seconds)
    if failure is not None:
        raise failure


def test_a_follower_that_fails_after_others_have_returned_is_noticed(ray_address: str) -> None:
    has_ended = threading.Event()
    refs = {1: ends_after.remote(0.0, None), 2: ends_after.remote(3.0, MemoryError("no memory left"))}
    watch = FollowWatch(refs, on_failure=has_ended.set)
    assert has_ended.wait(30)
    assert list(watch.seen) == [2]


class FailingTrainer(TrainerActor):
    """A lane whose calls of `commit` fail as the number that it is given says."""

    def commit(self, num_skipped_groups: int = 0) -> CallReport[dict[str, float]]:
        with self._together("commit", num_skipped_groups):
            if num_skipped_groups == 1:
                raise NonFiniteError("gradient", "all", float("nan"))
            if num_skipped_groups == 2 and self._gpu:
                raise MemoryError("no memory left")
            torch.distributed.barrier()
        return self._report(0.0, {})


def failing_lane(make_spec: SpecMaker, path: str) -> ClusterLanes:
    """A lane of two GPUs that is loaded."""
    lanes = ClusterLanes(
        [widened(LaneGrant(lane=LANE, role=LaneRole.TRAINER, node="local"))],
        DriverClock(),
        {**ACTOR_CLASSES, LaneRole.TRAINER: FailingTrainer},
    )
    lanes.open()
    lanes.wait_until_up([LANE], lambda: None, lambda _: None)
    spec, actor = make_spec(), lanes[LANE].actor
    rendezvous = ray.get(actor.rendezvous.remote())
    ray.get(actor.load.remote(spec, path, 0, 1, rendezvous, spec.prompts.inline), timeout=120)
    return lanes


def test_what_all_gpus_of_a_lane_fail_with_leaves_them_in_step_and_what_one_fails_with_ends_the_lane(
    ray_address: str, make_spec: SpecMaker, tiny_checkpoint: str
) -> None:
    lanes = failing_lane(make_spec, tiny_checkpoint)
    actor = lanes[LANE].actor
    try:
        with pytest.raises(NonFiniteError):
            ray.get(actor.commit.remote(1), timeout=60)
        ray.get(actor.commit.remote(0), timeout=60)
        with pytest.raises(LaneSpreadError, match="rank 1 of 2: MemoryError: no memory left") as raised:
            ray.get(actor.commit.remote(2), timeout=60)
        assert not isinstance(raised.value, FollowerLostError), "another attempt would fail alike"
        with pytest.raises(FollowerLostError):
            ray.get(actor.commit.remote(0), timeout=60)
    finally:
        lanes.close()
