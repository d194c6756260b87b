"""One advantage from several rewards, against the formulas written out in numpy."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.names import RewardMixing
from worker.engine.advantage.group import SPREAD_TOLERANCE, STD_EPSILON, group_advantages
from worker.engine.advantage.mixed import GroupScores, has_spread, mixed_advantages

CLIP = 5.0
WEIGHTS = {"small": 3.0, "large": 1.0}
SMALL = [[0.1, 0.2, 0.3, 0.9], [0.5, 0.2, 0.2, 0.1]]
LARGE = [[40.0, 10.0, 10.0, 20.0], [5.0, 15.0, 25.0, 95.0]]
GROUPS: list[GroupScores] = [
    {"small": SMALL[0], "large": LARGE[0], "watched": [1.0, 2.0, None, 4.0]},
    {"small": SMALL[1], "large": LARGE[1], "watched": [None] * 4},
]
either_mixing = pytest.mark.parametrize("mixing", list(RewardMixing))
either_spread = pytest.mark.parametrize("over_batch", [False, True])


def plain_advantages(groups: list[list[float]], over_batch: bool) -> np.ndarray:
    values = np.array(groups)
    spread = values.std() if over_batch else values.std(axis=1, keepdims=True)
    return np.clip((values - values.mean(axis=1, keepdims=True)) / (spread + STD_EPSILON), -CLIP, CLIP)


def mixed(
    groups: Sequence[GroupScores], mixing: RewardMixing, over_batch: bool, weights: dict[str, float] = WEIGHTS
) -> np.ndarray:
    found = mixed_advantages(groups, weights, mixing=mixing, clip=CLIP, over_batch=over_batch)
    return np.array([group.advantages for group in found])


@either_spread
def test_a_sum_is_normalised_as_one_reward(over_batch: bool) -> None:
    sums = (3 * np.array(SMALL) + np.array(LARGE)).tolist()
    np.testing.assert_allclose(
        mixed(GROUPS, RewardMixing.SUM, over_batch), plain_advantages(sums, over_batch), atol=1e-12
    )


@either_spread
def test_normalised_mixing_is_the_weighted_mean_of_each_rewards_own_advantages(over_batch: bool) -> None:
    small = plain_advantages(SMALL, over_batch)
    large = plain_advantages(LARGE, over_batch)
    found = mixed(GROUPS, RewardMixing.NORMALISED, over_batch)
    np.testing.assert_allclose(found, 0.75 * small + 0.25 * large, atol=1e-12)


def test_normalised_mixing_does_not_care_for_a_rewards_scale() -> None:
    rescaled: list[GroupScores] = [
        {"small": small, "large": [1000 * value + 7 for value in large]}
        for small, large in zip(SMALL, LARGE, strict=True)
    ]
    np.testing.assert_allclose(
        mixed(rescaled, RewardMixing.NORMALISED, False), mixed(GROUPS, RewardMixing.NORMALISED, False), atol=1e-3
    )
    assert not np.allclose(mixed(rescaled, RewardMixing.SUM, False), mixed(GROUPS, RewardMixing.SUM, False), atol=1e-3)


@either_mixing
@given(rewards=st.lists(st.floats(-10, 10), min_size=2, max_size=8), weight=st.floats(0.25, 4))
def test_one_reward_alone_is_the_groups_own_advantages(
    mixing: RewardMixing, rewards: list[float], weight: float
) -> None:
    factor = weight if mixing is RewardMixing.SUM else 1.0
    expected = group_advantages([factor * reward for reward in rewards], clip=CLIP)
    found = mixed_advantages([{"a": rewards}], {"a": weight}, mixing=mixing, clip=CLIP, over_batch=False)[0]
    np.testing.assert_allclose(found.advantages, expected.advantages, rtol=1e-9, atol=1e-9)
    assert found.zero_std == expected.zero_std


@either_mixing
def test_one_reward_of_weight_1_gives_bitwise_the_same_as_without_mixing(mixing: RewardMixing) -> None:
    rewards = [[0.1, 0.7, 0.3], [0.2, 0.2, 0.9]]
    groups = [{"a": group} for group in rewards]
    spread = float(np.array(rewards).std())
    found = mixed_advantages(groups, {"a": 1.0}, mixing=mixing, clip=CLIP, over_batch=True)
    assert found == tuple(group_advantages(group, clip=CLIP, std=spread) for group in rewards)
    alone = mixed_advantages(groups, {"a": 1.0}, mixing=mixing, clip=CLIP, over_batch=False)
    assert alone == tuple(group_advantages(group, clip=CLIP) for group in rewards)


@either_spread
def test_a_missing_score_is_neutral(over_batch: bool) -> None:
    groups: list[GroupScores] = [{"a": [1.0, None, 3.0]}, {"a": [None, None, None]}]
    for mixing in RewardMixing:
        found = mixed(groups, mixing, over_batch, {"a": 1.0})
        assert found[0][1] == 0.0
        assert found[0][0] < 0 < found[0][2]
        assert not found[1].any()


@either_mixing
@either_spread
@given(
    groups=st.lists(st.lists(st.one_of(st.none(), st.floats(-10, 10)), min_size=3, max_size=6), min_size=1, max_size=4)
)
def test_samples_without_a_score_do_not_increase_the_advantages_of_those_with_one(
    mixing: RewardMixing, over_batch: bool, groups: list[list[float | None]]
) -> None:
    """Advantages are relative to the mean and standard deviation of the known scores alone."""
    known = [[score for score in group if score is not None] for group in groups]
    everything = [score for scores in known for score in scores]
    found = mixed_advantages(
        [{"a": group} for group in groups], {"a": 1.0}, mixing=mixing, clip=CLIP, over_batch=over_batch
    )
    for group, scores, mixed_group in zip(groups, known, found, strict=True):
        spread = np.std(everything if over_batch else scores) if scores else 1.0
        for score, advantage in zip(group, mixed_group.advantages, strict=True):
            expected = 0.0 if score is None else (score - np.mean(scores)) / (spread + STD_EPSILON)
            # Groups' means, with which missing scores are filled, may spread more than the known scores, never less.
            bound = abs(np.clip(expected, -CLIP, CLIP)) + 1e-6
            assert np.sign(advantage) == np.sign(expected) or abs(advantage) < 1e-6
            assert abs(advantage) <= bound
            if not over_batch:
                assert advantage == pytest.approx(np.clip(expected, -CLIP, CLIP), abs=1e-6)


@either_mixing
def test_a_group_without_scores_does_not_change_the_batchs_standard_deviation(mixing: RewardMixing) -> None:
    """Filled with 0, it would lie far from scores near 20 and reduce every advantage of the batch."""
    scored: list[GroupScores] = [{"a": [20.0, 20.4, 19.9]}, {"a": [21.0, 20.7, 20.1]}]
    without = mixed(scored, mixing, True, {"a": 1.0})
    found = mixed([*scored, {"a": [None] * 3}], mixing, True, {"a": 1.0})
    np.testing.assert_allclose(found[:2], without, atol=1e-9)
    assert not found[2].any()


def test_in_a_sum_a_reward_that_a_group_lacks_is_filled_with_the_batchs_mean() -> None:
    groups: list[GroupScores] = [
        {"a": [1.0, 2.0, 3.0], "b": [20.0, 21.0, 19.5]},
        {"a": [1.5, 2.5, 2.0], "b": [None] * 3},
    ]
    sums = np.array([[21.0, 23.0, 22.5], np.array([1.5, 2.5, 2.0]) + np.mean([20.0, 21.0, 19.5])])
    np.testing.assert_allclose(
        mixed(groups, RewardMixing.SUM, True, {"a": 1.0, "b": 1.0}), plain_advantages(sums.tolist(), True), atol=1e-12
    )


@either_mixing
@either_spread
@given(
    watched=st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(float("nan"))), min_size=4, max_size=4),
)
def test_the_scores_of_a_watched_reward_change_no_advantage(
    mixing: RewardMixing, over_batch: bool, watched: list[float | None]
) -> None:
    changed = [{**group, "watched": watched} for group in GROUPS]
    assert (mixed(changed, mixing, over_batch) == mixed(GROUPS, mixing, over_batch)).all()


def test_a_reward_that_no_member_of_a_group_has_leaves_the_other_rewards_advantages() -> None:
    group: GroupScores = {"a": [None] * 3, "b": [1.0, 2.0, 3.0]}
    alone = mixed([{"b": group["b"]}], RewardMixing.SUM, False, {"b": 1.0})
    np.testing.assert_allclose(mixed([group], RewardMixing.SUM, False, {"a": 9.0, "b": 1.0}), alone)


def test_a_group_has_zero_std_only_when_none_of_its_rewards_differ() -> None:
    def zero_std(group: dict[str, list[float]]) -> bool:
        return mixed_advantages(
            [group], {"a": 1.0, "b": 1.0}, mixing=RewardMixing.NORMALISED, clip=CLIP, over_batch=False
        )[0].zero_std

    assert zero_std({"a": [1.0, 1.0], "b": [2.0, 2.0]})
    assert not zero_std({"a": [1.0, 1.0], "b": [2.0, 3.0]})


def spread(group: GroupScores, mixing: RewardMixing, weights: dict[str, float] | None = None) -> bool:
    return has_spread(group, weights or dict.fromkeys(group, 1.0), mixing=mixing)


def test_what_counts_is_the_spread_of_what_the_advantages_are_made_of() -> None:
    opposed: GroupScores = {"a": [0.0, 1.0], "b": [1.0, 0.0]}
    assert not spread(opposed, RewardMixing.SUM), "the sums are equal"
    assert spread(opposed, RewardMixing.NORMALISED)
    assert spread(opposed, RewardMixing.SUM, {"a": 2.0, "b": 1.0})
    assert not spread({"a": [1.0, 1.0], "watched": [0.0, 1.0]}, RewardMixing.SUM, {"a": 1.0})


@either_mixing
def test_missing_scores_make_no_spread(mixing: RewardMixing) -> None:
    assert not spread({"a": [None, None]}, mixing)
    assert not spread({"a": [0.7, None], "b": [None, None]}, mixing)
    assert not spread({"a": [1.0, 1.0], "b": [None, None]}, mixing)
    assert spread({"a": [0.7, 0.1], "b": [None, None]}, mixing)


@either_mixing
def test_float32_rounding_makes_no_spread(mixing: RewardMixing) -> None:
    value = 26.123456
    next_value = float(np.nextafter(np.float32(value), np.float32(np.inf)))
    assert not spread({"a": [float(np.float32(value)), next_value]}, mixing)
    assert spread({"a": [value, value * (1 + 2 * SPREAD_TOLERANCE)]}, mixing)
    assert not spread({"a": [0.0, 0.0]}, mixing)


scores = st.lists(st.sampled_from([None, 0.0, 0.5, 1.0, 1.0 + 1e-8, -3.0, 1e6, 1e6 + 0.5]), min_size=3, max_size=3)
groups_of_scores = st.fixed_dictionaries({"small": scores, "large": scores})


@given(
    groups=st.lists(groups_of_scores, min_size=1, max_size=4),
    mixing=st.sampled_from(RewardMixing),
    over_batch=st.booleans(),
)
def test_a_group_has_advantages_only_with_spread_whatever_the_other_groups(
    groups: list[GroupScores], mixing: RewardMixing, over_batch: bool
) -> None:
    found = mixed_advantages(groups, WEIGHTS, mixing=mixing, clip=CLIP, over_batch=over_batch)
    for group, result in zip(groups, found, strict=True):
        if not has_spread(group, WEIGHTS, mixing=mixing):
            assert result.zero_std and result.advantages == (0.0,) * 3
