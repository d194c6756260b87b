"""Advantages are relative to the group, bounded, and never computed from NaN."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.names import RewardMixing
from worker.engine.advantage.group import GroupAdvantages, group_advantages
from worker.engine.advantage.mixed import mixed_advantages
from worker.engine.errors import NonFiniteError

rewards = st.lists(st.floats(-100, 100), min_size=2, max_size=32)


def batch_advantages(groups: list[list[float]]) -> tuple[GroupAdvantages, ...]:
    """Advantages from one reward, over the standard deviation of the whole batch."""
    scores = [{"a": group} for group in groups]
    return mixed_advantages(scores, {"a": 1.0}, mixing=RewardMixing.SUM, clip=5, over_batch=True)


@given(values=rewards)
def test_they_equal_the_formula_with_the_population_std(values: list[float]) -> None:
    array = np.asarray(values)
    result = group_advantages(values, clip=5)
    if array.max() == array.min():
        assert result.zero_std and result.advantages == (0.0,) * len(values)
    else:
        expected = np.clip((array - array.mean()) / (array.std() + 1e-4), -5, 5)
        np.testing.assert_allclose(result.advantages, expected, rtol=1e-9, atol=1e-9)


@given(values=rewards, clip=st.floats(0.1, 5))
def test_they_never_leave_the_clip_and_keep_the_order(values: list[float], clip: float) -> None:
    advantages = group_advantages(values, clip=clip).advantages
    assert all(abs(advantage) <= clip for advantage in advantages)
    ordered = [advantage for _, advantage in sorted(zip(values, advantages, strict=True))]
    assert ordered == sorted(ordered)


@given(values=st.lists(st.integers(-50, 50), min_size=2, max_size=16), shift=st.integers(-50, 50))
def test_a_constant_added_to_all_rewards_changes_nothing(values: list[int], shift: int) -> None:
    one = group_advantages(values, clip=5).advantages
    other = group_advantages([value + shift for value in values], clip=5).advantages
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_equal_rewards_have_advantage_zero_even_where_their_mean_rounds() -> None:
    result = group_advantages([0.1] * 3, clip=5)
    assert result.advantages == (0.0, 0.0, 0.0) and result.zero_std


def test_over_a_batch_groups_share_the_standard_deviation_but_not_the_mean() -> None:
    groups = [[0.0, 1.0], [10.0, 10.5]]
    std = float(np.std([0.0, 1.0, 10.0, 10.5])) + 1e-4
    first, second = batch_advantages(groups)
    assert first.advantages == pytest.approx((-0.5 / std, 0.5 / std))
    assert second.advantages == pytest.approx((-0.25 / std, 0.25 / std))


def test_a_zero_std_group_in_a_batch_stays_zero() -> None:
    first, second = batch_advantages([[1.0, 1.0], [0.0, 2.0]])
    assert first.zero_std and first.advantages == (0.0, 0.0)
    assert not second.zero_std


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_reward_that_is_not_finite_is_named(bad: float) -> None:
    with pytest.raises(NonFiniteError, match=r"`reward` must be finite, got (nan|inf) at group, member 1"):
        group_advantages([0.0, bad], clip=5)
    with pytest.raises(NonFiniteError, match="group 1, member 0"):
        batch_advantages([[0.0, 1.0], [bad, 1.0]])


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold ≥ 2 values, got 1: advantages need siblings"):
        group_advantages([1.0], clip=5)


def test_a_standard_deviation_that_overflows_is_refused() -> None:
    with pytest.raises(NonFiniteError, match="standard deviation of rewards"), np.errstate(over="ignore"):
        group_advantages([1e200, -1e200, 0.0], clip=5)
