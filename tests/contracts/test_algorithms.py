"""Each algorithm's settings: the union in a spec, what they need, and what they refuse."""

from typing import Any

import pytest
from pydantic import ValidationError

from worker.contracts.algorithms import ALGORITHM_SPECS, AlgorithmNeeds, FlowGrpoSpec
from worker.contracts.run_spec import RunSpec


def spec_with(algorithm: dict[str, Any], **sections: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"a prompt {number}" for number in range(8)]},
            "rewards": [{"name": "shape_match"}],
            "algorithm": algorithm,
            **sections,
        }
    )


def minimal(name: str) -> RunSpec:
    return spec_with({"name": name}, sampling={"sde_type": "dance"} if name == "dance_grpo" else {})


def refusal(algorithm: dict[str, Any], **sections: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        spec_with(algorithm, **sections)
    return str(caught.value)


def test_settings_without_a_name_are_flow_grpos() -> None:
    assert spec_with({"clip_range": 3e-3}).algorithm == FlowGrpoSpec(clip_range=3e-3)


@pytest.mark.parametrize("name", ALGORITHM_SPECS)
def test_every_algorithm_survives_yaml_and_json(name: str) -> None:
    spec = minimal(name)
    assert spec.algorithm.name == name
    assert RunSpec.from_yaml(spec.to_yaml()) == spec
    assert RunSpec.model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize("name", ALGORITHM_SPECS)
def test_every_setting_has_help(name: str) -> None:
    kind = ALGORITHM_SPECS[name]
    assert kind.__doc__
    for setting, field in kind.model_fields.items():
        assert setting == "name" or field.description, f"{name}.{setting}"


def test_another_algorithms_setting_is_refused() -> None:
    assert "Extra inputs are not permitted" in refusal({"name": "diffusion_dpo", "clip_range": 0.1})
    assert "does not match any of the expected tags" in refusal({"name": "ppo"})


def test_needs_follow_from_the_settings() -> None:
    assert minimal("flow_grpo").algorithm.needs == AlgorithmNeeds(log_probs=True, states=True)
    assert spec_with({"kl_coefficient": 0.1}).algorithm.needs.reference
    assert minimal("grpo_guard").algorithm.needs.old_means
    assert minimal("diffusion_nft").algorithm.needs == AlgorithmNeeds(
        clean_latents=True, second_adapter=True, reference=True
    )
    assert not spec_with({"name": "diffusion_nft", "kl_coefficient": 0}).algorithm.needs.reference
    assert minimal("refl").algorithm.needs == AlgorithmNeeds(states=True, differentiable_reward=True)


@pytest.mark.parametrize(
    ("algorithm", "num_pairs"),
    [
        ({"name": "flow_grpo"}, 8 * 8 * 9),
        ({"name": "flow_grpo_fast", "window_size": 3}, 8 * 8 * 3),
        ({"name": "diffusion_nft", "num_noise_levels": 5}, 8 * 8 * 5),
        ({"name": "diffusion_dpo", "num_noise_levels": 5, "num_preferences": 2}, 8 * 2 * 5),
        ({"name": "reward_flow"}, 8 * 8),
    ],
)
def test_the_algebra_counts_what_the_algorithm_trains_on(algorithm: dict[str, Any], num_pairs: int) -> None:
    assert spec_with(algorithm).algebra.num_pairs_per_optimizer_step == num_pairs


def test_refusals_name_field_value_and_bound() -> None:
    fast = {"name": "flow_grpo_fast", "window_size": 4}
    assert "`algorithm.window_size` must be ≤ 3, got 4" in refusal(fast, sampling={"num_sde_steps": 3})
    assert "`sampling.sde_type` must be `dance` for dance_grpo, got flow" in refusal({"name": "dance_grpo"})
    assert "must be `flow` or `dance` for grpo_guard, got cps" in refusal(
        {"name": "grpo_guard"}, sampling={"sde_type": "cps"}
    )
    assert "`algorithm.num_preferences` must be ≤ 4, got 5" in refusal({"name": "diffusion_dpo", "num_preferences": 5})
    assert "`algorithm.num_late_steps` must be < 10" in refusal({"name": "refl", "num_late_steps": 10})
    assert "`algorithm.num_gradient_steps` must be < 10" in refusal({"name": "reward_flow", "num_gradient_steps": 11})


def test_an_importance_cap_needs_a_ratio_to_bound() -> None:
    stale = {"max_staleness": 1, "importance_cap": 2.0}
    assert spec_with({"name": "mix_grpo"}, pipeline=stale).pipeline.importance_cap == 2.0
    assert "`pipeline.importance_cap` must be empty for diffusion_nft" in refusal(
        {"name": "diffusion_nft"}, pipeline=stale
    )


def test_stale_pairs_are_clipped_around_the_proximal_policy_unless_the_spec_says_otherwise() -> None:
    pipeline = spec_with({}, pipeline={"max_staleness": 1}).pipeline
    assert pipeline.stale_clip == "proximal"
    assert pipeline.weight_cap == 2.0


@pytest.mark.parametrize("name", ALGORITHM_SPECS)
def test_the_algorithms_whose_loss_has_an_importance_ratio_are_those_that_need_log_probs(name: str) -> None:
    assert ALGORITHM_SPECS[name].is_policy_gradient == minimal(name).algorithm.needs.log_probs


def test_an_importance_cap_needs_weights_to_bound() -> None:
    around_behaviour = {"max_staleness": 1, "stale_clip": "behaviour"}
    assert spec_with({}, pipeline=around_behaviour).pipeline.importance_cap is None
    assert "`pipeline.importance_cap` must be empty for `stale_clip` behaviour, got 2.0" in refusal(
        {}, pipeline=around_behaviour | {"importance_cap": 2.0}
    )


def test_feedback_trains_on_differentiable_rewards_alone() -> None:
    rewards = [{"name": "shape_match"}, {"name": "colorfulness"}]
    assert "must be differentiable (shape_match), got colorfulness" in refusal({"name": "refl"}, rewards=rewards)
    watched = [{"name": "shape_match"}, {"name": "colorfulness", "watched": True}]
    assert spec_with({"name": "refl"}, rewards=watched).algorithm.name == "refl"
