"""Runs whose rewards share a card: which lanes they get, what their driver is told, and what pools must have for it."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node
from fleet.selectors import grants_of
from fleet.services import allocate
from runs.models import Attempt, Run
from runs.planning.auto_placement import hypothetical_plan
from runs.planning.plan_revisions import replan_basis
from runs.pool_check import pool_problems
from runs.queue.dispatch import start_attempt
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneGrant, LaneSpec
from worker.contracts.names import LaneRole, Placement, RewardDevice
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeSpec = Callable[..., RunSpec]
MakeRun = Callable[..., Run]

H100 = "NVIDIA H100 80GB HBM3"
SD3 = {
    "base_model": {"path": "stabilityai/stable-diffusion-3.5-medium", "family": "sd3", "dtype": "bf16"},
    "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
    "rewards": [{"name": "pick_score"}],
    "sampling": {"num_denoising_steps": 10, "num_sde_steps": 4, "height": 512, "width": 512},
    "batch": {"num_prompts_per_batch": 8, "group_size": 8, "micro_batch_size": 8},
}
ONE_CARD: dict[str, Any] = {
    "pipeline": {"placement": "colocated"},
    "lanes": {"num_rollout": 0, "num_trainer": 1, "num_reward": 4},
}
TWO_CARDS: dict[str, Any] = {
    "pipeline": {"placement": "auto"},
    "lanes": {"num_rollout": 1, "num_trainer": 1, "num_reward": 1},
}


def spec_of(make_spec: MakeSpec, sections: dict[str, Any], **lanes: Any) -> RunSpec:
    return make_spec(**{**SD3, **sections, "lanes": sections["lanes"] | lanes})


def nodes(**slots_and_gpus: tuple[int, int]) -> None:
    for name, (num_slots, num_gpus) in slots_and_gpus.items():
        ensure_local_lanes(num_cpu_lanes=num_slots, gpu_indices=range(num_gpus), accelerator=H100, node=name)


def rewards_of(run: Run) -> list[LaneGrant]:
    return [grant for grant in grants_of(run.pk, 1) if grant.role is LaneRole.REWARD]


def test_a_run_of_one_card_shares_it_with_one_reward_lane_in_a_slot_of_its_node(
    make_run: MakeRun, make_spec: MakeSpec
) -> None:
    nodes(a=(4, 0), b=(4, 1))
    run = make_run(spec=spec_of(make_spec, ONE_CARD))
    attempt = start_attempt(run)
    (reward,) = rewards_of(run)
    assert (reward.node, reward.gpus, reward.device) == ("b", (), "cpu"), "it occupies no GPU"
    concrete = Attempt.objects.get(pk=attempt.pk).concrete_spec
    assert (concrete.lanes.rewards_on, concrete.lanes.num_reward) == (RewardDevice.SHARED_GPU, 1)
    assert concrete.pipeline.placement is Placement.COLOCATED
    run.refresh_from_db()
    assert run.run_spec.lanes.rewards_on is RewardDevice.AUTO, "the run keeps what was asked"


def test_a_plan_says_why_rewards_share_a_card_and_a_plan_anew_keeps_it(make_run: MakeRun, make_spec: MakeSpec) -> None:
    nodes(a=(2, 2))
    run = make_run(spec=spec_of(make_spec, TWO_CARDS))
    attempt = start_attempt(run)
    revision = attempt.plan_revision
    assert revision is not None
    made = revision.plan
    assert made["scoring"]["rewards_on"] == "shared_gpu"
    assert "Rewards share the GPU of a lane that generates" in made["scoring"]["reason"]
    assert made["by_mode"][made["mode"]]["memory_bytes"].keys() & {"rollout", "both"}
    assert made["scoring"]["card_bytes"] > 5e9
    grants = grants_of(run.pk, 1)
    basis = replan_basis(attempt, grants, {grant.lane: H100 for grant in grants})
    assert basis is not None and basis.asked.lanes.rewards_on is RewardDevice.SHARED_GPU
    assert hypothetical_plan(run.run_spec)["scoring"] == made["scoring"]


def test_without_a_free_slot_beside_the_card_rewards_are_on_cpu_slots_elsewhere(
    make_run: MakeRun, make_spec: MakeSpec
) -> None:
    nodes(b=(1, 2))
    allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec(num_rollout=0, num_trainer=1, num_reward=1))
    nodes(a=(4, 0))
    run = make_run(spec=spec_of(make_spec, ONE_CARD))
    attempt = start_attempt(run)
    assert [grant.node for grant in rewards_of(run)] == ["a"] * 4
    concrete = Attempt.objects.get(pk=attempt.pk).concrete_spec
    assert (concrete.lanes.rewards_on, concrete.lanes.num_reward) == (RewardDevice.CPU, 4)


@pytest.mark.parametrize("rewards_on", ["cpu", "shared_gpu"])
def test_what_a_user_has_chosen_stays(make_run: MakeRun, make_spec: MakeSpec, rewards_on: str) -> None:
    nodes(a=(4, 1))
    run = make_run(spec=spec_of(make_spec, ONE_CARD, rewards_on=rewards_on, num_reward=1))
    concrete = Attempt.objects.get(pk=start_attempt(run).pk).concrete_spec
    assert concrete.lanes.rewards_on == rewards_on


def test_a_pool_without_slots_beside_its_gpus_refuses_rewards_that_share_them(make_spec: MakeSpec) -> None:
    nodes(a=(4, 0), b=(0, 2))
    asked = spec_of(make_spec, ONE_CARD, rewards_on="shared_gpu", num_reward=1)
    (said,) = pool_problems(asked, None).values()
    assert said.startswith("`lanes.num_reward` must be ≤ 0 (CPU lanes beside GPUs of the pool default)")
    assert "got 1" in said and "own_gpu" in said
    assert pool_problems(spec_of(make_spec, ONE_CARD), None) == {}, "`auto` then takes CPU slots"
    assert Node.objects.count() == 2
    nodes(b=(1, 2))
    assert pool_problems(asked, None) == {}
