"""ReFL and reward flow against their formulas, and the differentiable reward against the numpy one."""

import numpy as np
import pytest
import torch

from worker.contracts.algorithms import DIFFERENTIABLE_REWARDS, ReflSpec, RewardFlowSpec
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.engine.algorithms.base import RewardedSamples
from worker.engine.algorithms.refl import Refl
from worker.engine.algorithms.reward_flow import RewardFlow, penalty
from worker.engine.reward.differentiable import DIFFERENTIABLE, DifferentiableSum
from worker.engine.reward.shapes.captions import COLOURS, SHAPES
from worker.engine.reward.shapes.drawing import BACKGROUND_RGB, COLOUR_RGB, Placement, shape_mask
from worker.engine.reward.shapes.shape_match import ShapeMatch
from worker.engine.reward.shapes.shape_match_torch import TorchShapeMatch

CPU = torch.device("cpu")
SIGMAS = torch.tensor([1.0, 0.8, 0.5, 0.2, 0.0])


def rewarded(rewards: list[float], penalties: list[float] | None = None) -> RewardedSamples:
    given = None if penalties is None else torch.tensor(penalties)
    return RewardedSamples(rewards=torch.tensor(rewards, requires_grad=True), penalties=given)


def test_refl_raises_the_reward_up_to_its_ceiling() -> None:
    samples = rewarded([0.2, 0.9], [1.0, 2.0])
    terms = Refl(ReflSpec(reward_scale=3.0, reward_ceiling=0.5, kl_coefficient=0.1)).terms(samples)
    assert terms.loss.tolist() == pytest.approx([-0.6 + 0.1, -1.5 + 0.2])
    terms.loss.sum().backward()
    assert samples.rewards.grad is not None
    assert samples.rewards.grad.tolist() == pytest.approx([-3.0, 0.0])


def test_reward_flow_normalises_as_rolls_recipe_does() -> None:
    """-0.1 (reward - 0.54) / 0.16 + KL."""
    spec = RewardFlowSpec(reward_scale=0.1, reward_mean=0.54, reward_std=0.16, kl_coefficient=1.0)
    terms = RewardFlow(spec).terms(rewarded([0.7, 0.5], [0.25, 0.5]))
    assert terms.loss.tolist() == pytest.approx([-0.1 + 0.25, 0.025 + 0.5])
    assert terms.kl is not None and terms.kl.tolist() == [0.25, 0.5]


def test_a_missing_penalty_is_an_error_where_it_is_needed() -> None:
    with pytest.raises(ValueError, match="`penalties` must be given"):
        RewardFlow(RewardFlowSpec(kl_coefficient=1.0)).terms(rewarded([0.1]))


def test_the_penalty_is_the_squared_distance_over_twice_sigma_squared() -> None:
    rng = np.random.default_rng(0)
    new, old, sigmas = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 4)), np.array([0.3, 0.6, 0.9])
    expected = [((new[row] - old[row]) ** 2).mean() / (2 * sigmas[row] ** 2) for row in range(3)]
    found = penalty(torch.tensor(new), torch.tensor(old), torch.tensor(sigmas))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_refl_denoises_to_the_end_in_one_step_and_reward_flow_in_all() -> None:
    assert Refl(ReflSpec()).gradient_sigmas(SIGMAS, 2).tolist() == [0.5, 0.0]
    assert RewardFlow(RewardFlowSpec()).gradient_sigmas(SIGMAS, 2).tolist() == pytest.approx([0.5, 0.2, 0.0])


def test_the_registry_holds_the_differentiable_rewards_of_the_contracts() -> None:
    assert set(DIFFERENTIABLE) == DIFFERENTIABLE_REWARDS


def pictures(prompt_colour: str, shape: str, num: int) -> np.ndarray:
    """Drawn shapes of several sizes, some pale, some noisy, some in another colour; uint8."""
    rng = np.random.default_rng(5)
    made = []
    for index in range(num):
        mask = shape_mask(shape, Placement(15 + rng.uniform(-2, 2), 16 + rng.uniform(-2, 2), 6 + 0.3 * index))
        colour = np.array(COLOUR_RGB[prompt_colour if index % 4 else "green"], dtype=np.float64)
        strength = (0.7 + 0.3 * rng.uniform()) * mask[..., None]
        ground = np.array(BACKGROUND_RGB, dtype=np.float64)
        made.append(ground + strength * (colour - ground) + rng.normal(scale=4, size=(32, 32, 3)))
    return np.clip(np.round(made), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_torch_score_is_the_numpy_score_within_1e_4(shape: str) -> None:
    images = pictures("red", shape, 16)
    for colour in COLOURS[:3]:
        prompt = f"a {colour} {shape}"
        expected = ShapeMatch().score(images, [Prompt(text=prompt)] * len(images)).require_complete("shape_match")
        pixels = torch.from_numpy(images).movedim(3, 1).float() / 255
        found = TorchShapeMatch(CPU)(pixels, Prompt(text=prompt))
        np.testing.assert_allclose(found, expected, atol=1e-4)
    assert max(ShapeMatch().score(images, [Prompt(text=f"a red {shape}")] * 16).require_complete("shape_match")) > 0.5


def test_following_the_gradient_raises_the_score() -> None:
    images = pictures("red", "circle", 8)
    scorer = TorchShapeMatch(CPU)
    pixels = (torch.from_numpy(images).movedim(3, 1).float() / 255).requires_grad_()
    before = scorer(pixels, Prompt(text="a red circle"))
    before.sum().backward()
    assert pixels.grad is not None and torch.isfinite(pixels.grad).all()
    after = scorer(
        (pixels + 0.05 * pixels.grad / pixels.grad.abs().amax()).clamp(0, 1).detach(), Prompt(text="a red circle")
    )
    between = (before.detach() > 0.05) & (before.detach() < 0.95)
    assert between.sum() >= 3
    assert (after[between] >= before.detach()[between]).all()
    assert after.sum() > before.sum()


def test_rewards_are_weighted_and_clips_scored_by_the_mean_of_their_frames() -> None:
    images = torch.from_numpy(pictures("red", "circle", 4)).movedim(3, 1).float() / 255
    single = TorchShapeMatch(CPU)(images, Prompt(text="a red circle"))
    total = DifferentiableSum([RewardSpec.model_validate({"name": "shape_match", "weight": 2.0})], CPU)
    torch.testing.assert_close(total(images, Prompt(text="a red circle")), 2 * single)
    clips = images.reshape(2, 2, 3, 32, 32)
    torch.testing.assert_close(total(clips, Prompt(text="a red circle")), 2 * single.reshape(2, 2).mean(1))


def test_the_torch_score_refuses_sizes_and_prompts_it_does_not_support() -> None:
    with pytest.raises(ValueError, match="must be 3x32x32"):
        TorchShapeMatch(CPU)(torch.zeros(1, 3, 16, 16), Prompt(text="a red circle"))
    with pytest.raises(ValueError, match="colour"):
        TorchShapeMatch(CPU)(torch.zeros(1, 3, 32, 32), Prompt(text="a red dog"))
