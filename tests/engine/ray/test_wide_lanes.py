"""Rollout lanes of two GPUs on real Ray: the lane's actor starts a follower, and both make every prediction. The GPUs
are recorded ones, so that both compute on the CPU."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import psutil
import pytest
import ray
from ray.actor import ActorHandle

from tests.engine.conftest import SpecMaker
from tests.engine.driving import ONE_LANE, Driven, grants, is_alive
from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.ray.wide_grants import UUIDS, follower_pids, until, widened
from tests.engine.sharing_embeddings import load_sampler
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.follower import FollowerActor
from worker.engine.actors.generation_followers import GenerationFollowers
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import CallReport
from worker.engine.actors.rollout import RolloutActor
from worker.engine.actors.trainer import _shard_info
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ACTOR_CLASSES, ClusterLanes
from worker.engine.errors import FollowerLostError, LaneSpreadError, SyncError
from worker.engine.types import GenerationRequest, PublishedShard, PullReceipt
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]


def remote(shard: PublishedShard) -> RemoteVersion:
    return RemoteVersion(policy_version=shard.policy_version, shard_infos=(_shard_info(shard),), refs=(ray.put(shard),))


def request(spec: RunSpec, purpose: Purpose = Purpose.TRAIN) -> GenerationRequest:
    fragment = Fragment(FragmentKey(purpose, 0, 0, 0), (0, 1), 1)
    return GenerationRequest(fragment=fragment, prompt=spec.prompts.inline[0], run_seed=3, prompt_index=0)


def make_ready(actor: ActorHandle, spec: RunSpec, base_model_path: str, shard: PublishedShard) -> None:
    """Have a lane load the model and bind the version."""
    ray.get(actor.load.remote(spec, base_model_path, spec.prompts.inline))
    ray.get(actor.pull.remote(remote(shard)))


class FaultyFollower(FollowerActor):
    """A follower that runs out of memory in its third pass."""

    def follow(self) -> CallReport[int]:
        seen = list[int]()

        def fail(*_: object) -> None:
            seen.append(1)
            if len(seen) == 3:
                raise MemoryError("no memory left")

        self._model.transformer.register_forward_pre_hook(fail)
        return super().follow()


class RolloutWithFaultyFollower(RolloutActor):
    follower_class = FaultyFollower


class RolloutWithHangingFirst(RolloutActor):
    """A lane whose own process stands still before its first prediction, with its followers waiting for it."""

    def pull(self, version: RemoteVersion) -> CallReport[PullReceipt]:
        receipt = super().pull(version)
        self._sampler._model.transformer.register_forward_pre_hook(lambda *_: time.sleep(3600))
        return receipt


@pytest.fixture
def wide_lane(ray_address: str, make_spec: SpecMaker, request: pytest.FixtureRequest) -> Iterator[ClusterLanes]:
    """One lane of two GPUs that is up; a test may give the class of its actor."""
    (grant,) = [grant for grant in grants(make_spec()) if grant.lane == ONE_LANE]
    classes = {**ACTOR_CLASSES, LaneRole.ROLLOUT: getattr(request, "param", RolloutActor)}
    lanes = ClusterLanes([widened(grant)], DriverClock(), classes)
    lanes.open()
    lanes.wait_until_up([ONE_LANE], lambda: None, lambda lanes: None)
    yield lanes
    lanes.close()


@pytest.fixture
def version(make_spec: SpecMaker, tiny_checkpoint: str) -> PublishedShard:
    return perturbed_version(make_spec(), tiny_checkpoint, seed=2, policy_version=1)


def test_a_lane_of_two_gpus_generates_on_both_and_ends_with_both(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    spec, actor = make_spec(), wide_lane[ONE_LANE].actor
    alone = load_sampler(spec, tiny_checkpoint, "cpu")
    expected_receipt = alone.pull(version)
    loaded = ray.get(actor.load.remote(spec, tiny_checkpoint, spec.prompts.inline))
    assert any("spread over the 2 GPUs" in record.message for record in loaded.logs)
    assert ray.get(actor.uuids.remote()).value == UUIDS
    assert ray.get(actor.pull.remote(remote(version))).value == expected_receipt
    followers = follower_pids()
    assert len(followers) == 1
    before = sum(psutil.Process(pid).cpu_times().user for pid in followers)
    for purpose in (Purpose.TRAIN, Purpose.EVALUATE):
        report, images, *_ = ray.get(actor.generate.remote([request(spec, purpose)], [()]))
        expected = alone.generate(request(spec, purpose))
        assert report.value[0].seeds == expected.seeds
        np.testing.assert_allclose(images.astype(int), expected.images.astype(int), atol=1)
    assert sum(psutil.Process(pid).cpu_times().user for pid in followers) > before
    wide_lane.kill(ONE_LANE)
    assert until(lambda: not any(map(is_alive, followers))), "a follower ends with its lane"


@pytest.mark.parametrize("moment", ["while it predicts", "between two calls"])
def test_a_dead_follower_fails_the_call_with_its_rank(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard, moment: str
) -> None:
    spec, actor = make_spec(sampling={"num_eval_denoising_steps": 200}), wide_lane[ONE_LANE].actor
    make_ready(actor, spec, tiny_checkpoint, version)
    (follower,) = follower_pids()
    if moment == "between two calls":
        os.kill(follower, signal.SIGKILL)
        assert until(lambda: not is_alive(follower))
    call = actor.generate.remote([request(spec, Purpose.EVALUATE)], [()])
    if moment == "while it predicts":
        steps = ray.get(actor.progress.remote()).num_steps
        assert until(lambda: ray.get(actor.progress.remote()).num_steps > steps + 10)
        os.kill(follower, signal.SIGKILL)
    with pytest.raises(
        FollowerLostError, match=rf"GPU 1 of lane `{ONE_LANE}` \({UUIDS[1]}\), rank 1 of 2: its process"
    ):
        ray.get(call, timeout=60)


def test_every_gpu_of_a_lane_that_hangs_tells_the_collectives_that_it_waits_in(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    spec, actor = make_spec(sampling={"num_eval_denoising_steps": 200}), wide_lane[ONE_LANE].actor
    make_ready(actor, spec, tiny_checkpoint, version)
    (follower,) = follower_pids()
    gpu_1 = f"{ONE_LANE}, GPU 1"
    # Between two calls the follower waits for the next one only while it follows.
    assert wide_lane.open_collectives(ONE_LANE) == {ONE_LANE: (), gpu_1: ()}
    call = actor.generate.remote([request(spec, Purpose.EVALUATE)], [()])
    steps = ray.get(actor.progress.remote()).num_steps
    assert until(lambda: ray.get(actor.progress.remote()).num_steps > steps + 10)
    os.kill(follower, signal.SIGSTOP)
    try:
        assert until(lambda: bool(wide_lane.open_collectives(ONE_LANE)[ONE_LANE]))
        told = wide_lane.open_collectives(ONE_LANE)
        assert told[gpu_1] is None, "it has stopped"
        own = told[ONE_LANE]
        assert own is not None and own[0].rank == 0 and own[0].operation.startswith("gloo:")
    finally:
        os.kill(follower, signal.SIGCONT)
    ray.get(call, timeout=120)


@pytest.mark.parametrize("wide_lane", [RolloutWithHangingFirst], indirect=True)
def test_a_follower_that_waits_for_the_first_gpu_tells_in_which_collective(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    spec, actor = make_spec(), wide_lane[ONE_LANE].actor
    make_ready(actor, spec, tiny_checkpoint, version)
    actor.generate.remote([request(spec)], [()])
    gpu_1 = f"{ONE_LANE}, GPU 1"
    assert until(lambda: bool(wide_lane.open_collectives(ONE_LANE)[gpu_1]))
    (waited, *_) = wide_lane.open_collectives(ONE_LANE)[gpu_1] or ()
    assert waited.rank == 1 and waited.operation == "gloo:broadcast", "for the next call of the first GPU"


@pytest.mark.parametrize("wide_lane", [RolloutWithHangingFirst], indirect=True)
def test_a_follower_tells_the_driver_itself_while_the_lanes_own_process_is_stopped(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    spec, handle = make_spec(), wide_lane[ONE_LANE]
    make_ready(handle.actor, spec, tiny_checkpoint, version)
    handle.actor.generate.remote([request(spec)], [()])
    gpu_1 = f"{ONE_LANE}, GPU 1"
    assert until(lambda: bool(wide_lane.open_collectives(ONE_LANE)[gpu_1]))
    assert handle.location is not None
    os.kill(handle.location.pid, signal.SIGSTOP)
    try:
        told = wide_lane.open_collectives(ONE_LANE)
    finally:
        os.kill(handle.location.pid, signal.SIGCONT)
    assert told[ONE_LANE] is None, "it has stopped"
    (waited, *_) = told[gpu_1] or ()
    assert waited.rank == 1 and waited.operation == "gloo:broadcast", "for the next call of the first GPU"


@pytest.mark.parametrize("wide_lane", [RolloutWithFaultyFollower], indirect=True)
def test_a_follower_that_fails_and_lives_on_fails_the_call_with_its_reason(
    wide_lane: ClusterLanes, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    """The first GPU would wait in an all-to-all for it."""
    spec, actor = make_spec(), wide_lane[ONE_LANE].actor
    make_ready(actor, spec, tiny_checkpoint, version)
    with pytest.raises(LaneSpreadError, match="rank 1 of 2: MemoryError: no memory left") as raised:
        ray.get(actor.generate.remote([request(spec)], [()]), timeout=60)
    assert not isinstance(raised.value, FollowerLostError), "another attempt would fail alike"


def test_a_lane_that_lost_a_follower_starts_again_and_its_fragments_are_drawn_again(
    drive: Callable[..., Driven], make_spec: SpecMaker
) -> None:
    spec = make_spec(num_batches=10, checkpoint={"every_num_batches": None})
    lanes = tuple(widened(grant) if grant.lane == ONE_LANE else grant for grant in grants(spec))
    driven = drive(spec, lanes=lanes)
    driven.until_batch(2)
    before = driven.pids()[ONE_LANE]
    (follower,) = follower_pids()
    os.kill(follower, signal.SIGKILL)
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    assert driven.pids()[ONE_LANE] != before
    messages = [event["message"] for event in driven.ingest.of_type("log")]
    assert any("is restarted: GPU 1 of lane `rollout-0`" in message for message in messages)
    assert until(lambda: not follower_pids()), "no follower outlives the run"


class Bound:
    """What a lane's own process has bound."""

    def __init__(self, version: PublishedShard, sha256: str | None = None) -> None:
        self._receipt = PullReceipt(
            policy_version=version.policy_version,
            num_bound_tensors=len(version.packed),
            sha256=sha256 or RemoteVersion(policy_version=1, shard_infos=(_shard_info(version),), refs=()).sha256,
        )

    def __call__(self) -> PullReceipt:
        return self._receipt


@pytest.fixture
def followers(ray_address: str) -> Iterator[GenerationFollowers]:
    """One follower, whose lane is this process."""
    followers = GenerationFollowers(ONE_LANE, UUIDS[1:])
    yield followers
    followers._end_all()
    assert until(lambda: not follower_pids())


def test_a_follower_must_bind_what_the_first_gpu_has_bound(
    followers: GenerationFollowers, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    followers.load(make_spec(), tiny_checkpoint)
    assert followers.bind(Bound(version), remote(version)).num_bound_tensors == len(version.packed) > 0
    with pytest.raises(SyncError, match=r"rank 1 of 2 must bind policy version 1 .* sha256 of another, got version 1"):
        followers.bind(Bound(version, "of another"), remote(version))


def test_a_version_of_which_a_follower_binds_no_tensor_fails(
    followers: GenerationFollowers, make_spec: SpecMaker, tiny_checkpoint: str, version: PublishedShard
) -> None:
    followers.load(make_spec(lora={"targets": ["norm1.linear"]}), tiny_checkpoint)
    with pytest.raises(LaneSpreadError, match=r"GPU 1 of lane .* rank 1 of 2: SyncError: 0 of \d+ published tensors"):
        followers.bind(Bound(version), remote(version))
