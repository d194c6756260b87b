"""What is said of each scorer before it is chosen."""

from pathlib import Path

import pytest

from worker.contracts.names import RewardName
from worker.contracts.reward_traits import REWARD_TRAITS, RewardTraits
from worker.contracts.rewards import VERDICT_REWARDS

GUIDE = Path(__file__).parents[2] / "deploy" / "docs" / "guides" / "rewards.md"


def row(name: RewardName, traits: RewardTraits) -> str:
    """The scorer's row in the guide's table."""
    seen = ", ".join(part for part in (traits.looks_at, traits.prompt) if part)
    source = f" ({traits.source})" if traits.source else ""
    return f"| `{name}` | {seen} | {traits.usual} | {traits.needs} | {traits.gamed}{source} |"


def test_every_scorer_has_its_traits_in_the_order_of_the_names() -> None:
    assert list(REWARD_TRAITS) == list(RewardName)


@pytest.mark.parametrize("name", RewardName)
def test_the_guide_says_what_the_traits_say(name: RewardName) -> None:
    assert row(name, REWARD_TRAITS[name]) in GUIDE.read_text().splitlines()


def test_verdicts_are_from_0_to_1() -> None:
    assert {(REWARD_TRAITS[name].lowest, REWARD_TRAITS[name].highest) for name in VERDICT_REWARDS} == {(0.0, 1.0)}
