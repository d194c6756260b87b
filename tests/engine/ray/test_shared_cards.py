"""Reward lanes that share the card of a lane that generates, on real Ray. The GPUs are recorded ones, so that every
process computes on the CPU; scorers' networks are in bf16 there too."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from transformers import CLIPVisionConfig

from tests.engine.conftest import SpecMaker
from tests.engine.driving import LANE_RESOURCES, Driven, grants
from tests.engine.ray.reported import check_tiling, losses, replayed
from tests.engine.ray.wide_grants import until
from tests.engine.reward.networks.conftest import SIDE, VISION
from tests.engine.reward.networks.scorer_inputs import save_processor
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import NO_ACCESS
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.reward.aesthetic import AestheticNetwork
from worker.engine.reward.scorer import Scorer
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

CARDS = {
    "rollout-0": "GPU-00000000-0000-0000-0000-00000000000a",
    "trainer-0": "GPU-00000000-0000-0000-0000-00000000000b",
}
REWARD = "reward-0"


@pytest.fixture(scope="module")
def aesthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aesthetic")
    save_processor(folder, SIDE)
    torch.manual_seed(2)
    AestheticNetwork(CLIPVisionConfig(**VISION)).save_pretrained(folder)
    return folder


def scored_spec(make_spec: SpecMaker, aesthetic: Path, dtype: str, **sections: Any) -> RunSpec:
    settings = {"weights": str(aesthetic), "dtype": dtype}
    return make_spec(rewards=[{"name": "aesthetic", "settings": settings}], **sections)


def granted(spec: RunSpec) -> tuple[LaneGrant, ...]:
    """One recorded card for each lane that generates or trains, and a CPU slot for the lane that scores."""

    def with_card(grant: LaneGrant) -> LaneGrant:
        occupied: dict[str, Any] = {"resources": (LANE_RESOURCES[grant.lane],)}
        if grant.role is not LaneRole.REWARD:
            occupied |= {"gpus": (list(CARDS).index(grant.lane),), "uuids": (CARDS[grant.lane],)}
        return grant.model_copy(update=occupied)

    return tuple(map(with_card, grants(spec)))


@pytest.fixture
def lanes(ray_address: str, make_spec: SpecMaker) -> Iterator[ClusterLanes]:
    """A rollout, a trainer and a reward lane that are up."""
    lanes = ClusterLanes(granted(make_spec()), DriverClock(), shares_cards=True)
    lanes.open()
    lanes.wait_until_up(lanes.names(), lambda: None, lambda lanes: None)
    yield lanes
    lanes.close()


def seen(lanes: ClusterLanes, lane: str) -> tuple[str, ...]:
    found: tuple[str, ...] = ray.get(lanes[lane].actor.uuids.remote()).value
    return found


def shared(lanes: ClusterLanes) -> str | None:
    (info,) = [info for info in lanes.infos() if info.lane == REWARD]
    return info.shares


def is_lost(lanes: ClusterLanes, lane: str) -> bool:
    try:
        ray.get(lanes[lane].actor.clock.remote())
    except ray.exceptions.RayActorError:
        return True
    return False


def restarted(lanes: ClusterLanes) -> None:
    lanes.restart(REWARD)
    lanes.wait_until_up([REWARD], lambda: None, lambda lanes: None)


def test_a_reward_lane_scores_in_bf16_on_the_card_of_the_rollout_lane_and_occupies_none_of_rays(
    lanes: ClusterLanes, make_spec: SpecMaker, aesthetic: Path
) -> None:
    spec = scored_spec(make_spec, aesthetic, "bf16")
    assert seen(lanes, REWARD) == seen(lanes, "rollout-0") == (CARDS["rollout-0"],)
    assert lanes.uuids(REWARD) == lanes.uuids("rollout-0") and shared(lanes) == "rollout-0"
    pids = {lanes[lane].location.pid for lane in (REWARD, "rollout-0")}  # type: ignore[union-attr]
    assert len(pids) == 2, "a process of its own"
    left = ray.available_resources()
    assert all(not left.get(LANE_RESOURCES[lane]) for lane in CARDS), "the cards' resources are those lanes' own"

    actor, prompt = lanes[REWARD].actor, spec.prompts.inline[0]
    ray.get(actor.load.remote(spec, NO_ACCESS))
    images = np.random.default_rng(0).integers(0, 256, size=(4, 32, 32, 3), dtype=np.uint8)
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1, 2, 3), 1)
    halved = ray.get(actor.score.remote(fragment, prompt, images)).value.rewards
    exact = Scorer(scored_spec(make_spec, aesthetic, "fp32").rewards).score(fragment, prompt, images).rewards
    assert halved != exact
    np.testing.assert_allclose(halved, exact, rtol=0.05, atol=0.05)


def test_a_lane_whose_card_leaves_starts_on_another_and_that_is_no_loss(lanes: ClusterLanes) -> None:
    lanes.remove("rollout-0")
    # Ray ends a process beside its calls, of which one or two may still be answered.
    assert until(lambda: is_lost(lanes, REWARD))
    restarted(lanes)
    assert seen(lanes, REWARD) == (CARDS["trainer-0"],) and shared(lanes) == "trainer-0"
    assert lanes[REWARD].num_restarts == 0, "no lane is given up because cards come and go"
    lanes.kill(REWARD)
    restarted(lanes)
    assert shared(lanes) == "trainer-0" and lanes[REWARD].num_restarts == 1


@pytest.mark.slow
def test_a_lost_lane_on_a_shared_card_is_restarted_there_and_scores_its_fragments_again(
    drive: Callable[..., Driven], make_spec: SpecMaker, aesthetic: Path
) -> None:
    """The run has the losses of one whose reward lane is on the CPU and is never lost."""

    def spec(rewards_on: str) -> RunSpec:
        return scored_spec(
            make_spec,
            aesthetic,
            "bf16",
            # Enough to be under way still when the pause has come.
            num_batches=16,
            batch={"fragment_size": 2},
            pipeline={"deterministic": True},
            lanes={"rewards_on": rewards_on},
            checkpoint={"every_num_batches": None},
        )

    apart = drive(spec("cpu"))
    assert apart.finish() == 0
    expected = losses(apart)
    apart.ingest.events.clear()
    driven = drive(spec("shared_gpu"), lanes=granted(spec("shared_gpu")))
    driven.until_batch(1)
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    before = driven.pids()[REWARD]
    os.kill(before, signal.SIGSTOP)
    driven.command("c2", "resume")
    # With a fragment at the lane, which is stopped, others wait to be scored.
    driven.until(lambda: driven.ingest.of_type("queues")[-1]["depths"]["fragments_to_score"] > 0)
    os.kill(before, signal.SIGKILL)
    assert driven.finish() == 0

    assert driven.states()[-1] == "completed" and driven.pids()[REWARD] != before
    infos = [info for event in driven.ingest.of_type("lanes") for info in event["lanes"] if info["lane"] == REWARD]
    assert {info["shares"] for info in infos} == {"rollout-0"}
    assert infos[-1]["uuids"] == [CARDS["rollout-0"]] and infos[-1]["device"] == CARDS["rollout-0"]
    assert losses(driven) == expected
    assert replayed(driven).num_actions > 0
    check_tiling(driven)
