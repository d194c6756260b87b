"""Where rewards are computed: what a shared card costs in time and memory, and when `auto` takes one."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.names import RewardDevice
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.cost_estimates import lane_costs, pool_costs
from worker.scheduling.planning.memory import MemoryRole, lane_memory, scorers_bytes
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.planning.planner import plan, resolve
from worker.scheduling.planning.scoring_choice import scoring_choice
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, GB, H100, L40S, Accelerator
from worker.scheduling.profiles.scorer_costs import SCORERS, SCORING_CORES, num_scoring_cores

SHARED, CPU, AUTO = RewardDevice.SHARED_GPU, RewardDevice.CPU, RewardDevice.AUTO
NETWORKS = tuple(name.value for name, scorer in SCORERS.items() if scorer.num_parameters)
OTHERS = tuple(name.value for name in SCORERS if name.value not in (*NETWORKS, "motion_smoothness", "remote"))
L4 = replace(L40S, name="l4", memory_bytes=24.1 * GB)


def reward(name: str, **settings: Any) -> dict[str, Any]:
    if name == "image_reward":
        settings["weights"] = "converted"
    return {"name": name, "settings": settings} if settings else {"name": name}


def spec(*rewards: str, rewards_on: RewardDevice = AUTO, **sections: Any) -> RunSpec:
    document: dict[str, Any] = {
        "base_model": {"path": "stabilityai/stable-diffusion-3.5-medium", "family": "sd3", "dtype": "bf16"},
        "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
        "rewards": [reward(name) for name in rewards or ("pick_score",)],
        "sampling": {"num_denoising_steps": 10, "num_sde_steps": 4, "height": 512, "width": 512},
        "batch": {"num_prompts_per_batch": 8, "group_size": 8, "micro_batch_size": 8},
        "pipeline": {"placement": "colocated"},
        "lanes": {"num_rollout": 0, "num_trainer": 1, "rewards_on": rewards_on},
    }
    for name, section in sections.items():
        document[name] = {**document.get(name, {}), **section} if isinstance(section, dict) else section
    return RunSpec.model_validate(document)


def without_text_encoders(work: Workload) -> Workload:
    return replace(work, profile=replace(work.profile, text_encoder_parameters=0.0))


rewards = st.lists(st.sampled_from(NETWORKS + OTHERS), min_size=1, max_size=5, unique=True)
cards = st.sampled_from([H100, L40S, L4])
roles = st.sampled_from(MemoryRole)


@given(rewards=rewards, card=cards, role=roles)
def test_a_shared_card_holds_the_scorers_beside_what_a_generating_lane_holds_anyway(
    rewards: list[str], card: Accelerator, role: MemoryRole
) -> None:
    """With what memory decides otherwise given: which layers are recomputed, and whether text encoders, which are gone
    before the policy is loaded, are on the card."""
    given_layers = {"deepspeed": {"gradient_checkpointing": 1}}
    alone, beside = (
        without_text_encoders(Workload.of(spec(*rewards, rewards_on=device, **given_layers)))
        for device in (CPU, SHARED)
    )
    held = lane_memory(beside, card, role).total - lane_memory(alone, card, role).total
    has_network = any(name in NETWORKS for name in rewards)
    expected = scorers_bytes(beside, card) if has_network and role is not MemoryRole.TRAINER else 0.0
    assert held == pytest.approx(expected)
    assert scorers_bytes(alone, card) == 0.0
    if has_network:
        weights = sum(2 * SCORERS[reward.name].num_parameters for reward in spec(*rewards).rewards)
        assert expected == 0.0 or expected > weights + 3 * GB, "a second process has a context of its own"


@given(rewards=rewards, more=st.sampled_from(NETWORKS), pictures=st.integers(1, 32))
def test_more_scorers_and_larger_calls_never_hold_less(rewards: list[str], more: str, pictures: int) -> None:
    def held(names: list[str], number: int) -> float:
        called = [reward(name, **({"pictures_per_call": number} if name in NETWORKS else {})) for name in names]
        return scorers_bytes(Workload.of(spec(rewards_on=SHARED, rewards=called)), H100)

    larger = held(rewards, pictures + 1)
    assert held(rewards, pictures) <= larger <= held(list({*rewards, more}), pictures + 1)


@given(rewards=rewards, card=cards, num_reward=st.integers(1, 4), num_cards=st.integers(4, 8))
def test_on_a_shared_card_the_work_of_both_adds_up(
    rewards: list[str], card: Accelerator, num_reward: int, num_cards: int
) -> None:
    lanes = {"num_trainer": num_cards, "num_reward": num_reward}
    alone, beside = (Workload.of(spec(*rewards, rewards_on=device, lanes=lanes)) for device in (CPU, SHARED))
    networks = beside.scoring.network_seconds(card)
    generate = lane_costs(beside, card).generate
    assert generate.per_unit == pytest.approx(lane_costs(alone, card).generate.per_unit + networks)
    pool = pool_costs(beside, [card] * num_cards, num_reward=num_reward)
    if networks:
        # The last fragment's lane is idle while it is scored: the whole card scores it.
        assert pool.score.per_unit == pytest.approx(networks + beside.scoring.core_seconds)
        number = beside.algebra.num_trajectories
        charged = number * (generate.per_unit - lane_costs(alone, card).generate.per_unit)
        assert charged == pytest.approx(number * networks), "each sample is scored once, whichever lane drew it"


@given(num_cards=st.integers(1, 64), num_reward=st.integers(1, 512))
def test_reward_lanes_have_the_cores_that_there_are(num_cards: int, num_reward: int) -> None:
    each = num_scoring_cores(num_cards, num_reward)
    assert 1 <= each <= SCORING_CORES
    assert each == 1 or each * num_reward <= 2 * SCORING_CORES * num_cards
    assert num_scoring_cores(num_cards, num_reward + 1) <= each <= num_scoring_cores(num_cards + 1, num_reward)


@given(rewards=rewards, card=cards, num_reward=st.integers(1, 8))
def test_auto_takes_a_shared_card_only_where_it_fits_and_says_why(
    rewards: list[str], card: Accelerator, num_reward: int
) -> None:
    made = scoring_choice(spec(*rewards, lanes={"num_reward": num_reward}), [card])
    lanes = made.spec.lanes
    assert lanes.rewards_on in (CPU, SHARED) and made.reason.startswith("Rewards ")
    if lanes.rewards_on is SHARED:
        memory = lane_memory(Workload.of(made.spec), card, MemoryRole.BOTH)
        assert memory.fits(card) and memory.scorers == made.card_bytes > 0
        assert lanes.num_reward == 1, "one process on the only card"
        assert f"{made.card_bytes / GB:.1f} GB" in made.reason
    else:
        assert made.card_bytes == 0 and lanes.num_reward == num_reward


def test_one_card_shares_where_cores_would_be_slower() -> None:
    for num_reward in (1, 8):
        made = scoring_choice(spec(lanes={"num_reward": num_reward}), [H100])
        assert made.spec.lanes.rewards_on is SHARED
    assert scoring_choice(made.spec, [H100]).reason == "", "what is settled stays"


@pytest.mark.parametrize(
    ("changed", "devices", "why"),
    [
        ({"rewards": [{"name": "ocr"}, {"name": "colorfulness"}]}, [H100], "none of them has a network"),
        ({}, [CPU_CORE], "there are lanes without a GPU"),
        ({}, [replace(L4, memory_bytes=12 * GB)], "no card has memory for their networks too (5.1 GB)"),
    ],
)
def test_auto_stays_on_cpu_slots(changed: dict[str, Any], devices: list[Accelerator], why: str) -> None:
    made = scoring_choice(spec(**changed), devices)
    assert made.spec.lanes.rewards_on is CPU and why in made.reason


def test_auto_stays_on_cpu_slots_where_scoring_hides_behind_other_work() -> None:
    """Many slow denoising steps, a rollout and a trainer lane: cores are done long before the lanes are."""
    slow = {"num_denoising_steps": 60, "height": 1024, "width": 1024}
    made = scoring_choice(
        spec(
            sampling=slow,
            pipeline={"placement": "disaggregated", "max_staleness": 1},
            lanes={"num_rollout": 1, "num_reward": 8},
        ),
        [H100, H100],
    )
    assert made.spec.lanes.rewards_on is CPU and "costs lanes that generate more" in made.reason


def test_a_time_out_that_cores_would_exceed_decides() -> None:
    slow = {"num_denoising_steps": 60, "height": 1024, "width": 1024}
    request = spec(
        sampling=slow,
        pipeline={"placement": "disaggregated", "max_staleness": 1},
        lanes={"num_rollout": 1, "num_reward": 8},
        rewards=[{"name": "pick_score", "timeout_seconds": 5}],
    )
    made = scoring_choice(request, [H100, H100])
    assert made.spec.lanes.rewards_on is SHARED and "exceed its time-out of 5 s" in made.reason


def test_the_plan_of_a_run_says_where_it_scores_and_its_spec_holds_it() -> None:
    asked = spec(pipeline={"placement": "auto"}, lanes={"num_rollout": 1, "num_trainer": 1, "num_reward": 2})
    made = plan(asked, devices=["h100"])
    scoring = made.request.scoring
    assert scoring is not None and scoring.spec.lanes.rewards_on is SHARED
    assert all(choice.memory for choice in made.by_mode.values())
    for choice in made.by_mode.values():
        beside = [held for role, held in choice.memory.items() if role is not MemoryRole.TRAINER]
        assert {held.scorers for held in beside} == {scoring.card_bytes}
    concrete = resolve(asked, devices=["h100"])
    assert concrete.lanes.rewards_on is SHARED
    assert concrete.lanes.num_reward <= concrete.num_cards_to_share
    assert resolve(concrete, devices=["h100"]) == concrete


def test_scorers_that_do_not_fit_are_warned_of_with_a_remedy() -> None:
    card = replace(L4, memory_bytes=15 * GB)
    work = Workload.of(spec(rewards_on=CPU))
    assert lane_memory(work, card, MemoryRole.BOTH).fits(card)
    (warning,) = memory_warnings(spec(rewards_on=SHARED), [card])
    assert "scorers 5.1" in warning and warning.endswith("It would fit with `lanes.rewards_on: cpu`.")
    assert memory_warnings(spec(), [card]) == [], "`auto` takes cores there"


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        (
            {"lanes": {"num_reward": 2}},
            r"`lanes.num_reward` must be ≤ 1 \(the lanes that generate\).* got 2: .*own_gpu",
        ),
        (
            {
                "pipeline": {"placement": "disaggregated"},
                "lanes": {"num_rollout": 1, "num_trainer": 3, "num_reward": 2},
            },
            r"`lanes.num_reward` must be ≤ 1",
        ),
        ({"elastic": {"max_reward": 3}}, r"`elastic.max_reward` must be ≤ 1 .* got 3"),
    ],
)
def test_more_reward_lanes_than_cards_to_share_are_refused(sections: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        spec(rewards_on=SHARED, **sections)
    made = spec(**sections).scoring_on(SHARED)
    assert RunSpec.model_validate(made.model_dump()) == made, "what the planner chooses is valid"
