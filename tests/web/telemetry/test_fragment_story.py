"""The story of a fragment: where and when its parts ran, and what became of its group."""

from collections.abc import Callable
from typing import Any

import pytest

from runs.models import Run
from telemetry.prompts.fragment_story import FragmentStory, fragment_story
from tests.web.telemetry.conftest import Driver

pytestmark = pytest.mark.django_db
PROMPTS = ["a red square", "a blue circle"]


def span(kind: str, lane: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "lane": lane, "start": start, "end": end, "batch": 3, **fields}


def of_fragment(kind: str, lane: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return span(kind, lane, start, end, **{"group": 1, "fragment": 1, "num_samples": 2, "policy_version": 3, **fields})


GENERATED = (of_fragment("generate", "rollout-0", 10, 14), of_fragment("decode", "rollout-0", 14, 15))
GROUPS = [
    {"prompt_index": 1, "mean_reward": 0.2, "reward_std": 0.1, "has_spread": True},
    {"prompt_index": 0, "mean_reward": 0.5, "reward_std": 0.0, "has_spread": False},
]


def story(driver: Driver, batch: int = 3, fragment: int = 1) -> FragmentStory | None:
    return fragment_story(driver.run_id, PROMPTS, batch=batch, group=1, fragment=fragment)


def test_a_fragments_story_has_its_prompt_members_group_and_steps_in_order(
    driver: Driver, event: Callable[..., Any]
) -> None:
    spans = [
        *GENERATED,
        of_fragment("score", "reward-0", 16, 17),
        span("train", "trainer-0", 20, 22, group=1),
        span("train", "trainer-0", 24, 25, group=1),
        span("train", "trainer-0", 25, 26),
        span("train", "trainer-0", 22, 24, group=0),
        of_fragment("generate", "rollout-1", 10, 12, fragment=0),
    ]
    driver.send(event(1, "spans", spans=spans), event(2, "groups", batch=4, groups=GROUPS))
    told = story(driver)
    assert told is not None
    assert (told["prompt"], told["members"], told["policy_version"]) == ("a red square", [2, 3], 3)
    assert told["outcome"] is not None
    assert (told["outcome"]["mean_reward"], told["outcome"]["has_spread"]) == (0.5, False)
    steps = [(one["kind"], one["lane"], one["start"], one["end"], one["is_of_fragment"]) for one in told["steps"]]
    assert steps == [
        ("generate", "rollout-0", 10, 14, True),
        ("decode", "rollout-0", 14, 15, True),
        ("score", "reward-0", 16, 17, True),
        ("train", "trainer-0", 20, 26, False),
    ]
    assert (told["steps"][-1]["busy_seconds"], told["steps"][-1]["num_spans"]) == (4, 3)


def test_a_held_out_fragment_of_the_same_numbers_is_no_part_of_the_story(
    driver: Driver, event: Callable[..., Any]
) -> None:
    held_out = [of_fragment("evaluate", "rollout-0", 1, 2), of_fragment("score", "reward-0", 3, 4)]
    driver.send(event(1, "spans", spans=held_out))
    assert story(driver) is None
    driver.send(event(2, "spans", spans=[*GENERATED, of_fragment("score", "reward-0", 16, 17)]))
    told = story(driver)
    assert told is not None
    assert [one["start"] for one in told["steps"]] == [10, 14, 16]


def test_until_the_batch_is_whole_the_prompt_and_the_groups_outcome_are_unknown(
    driver: Driver, event: Callable[..., Any]
) -> None:
    driver.send(event(1, "spans", spans=list(GENERATED)), event(2, "groups", batch=3, groups=GROUPS))
    told = story(driver)
    assert told is not None
    assert (told["prompt"], told["prompt_index"], told["outcome"]) == ("", None, None)
    assert story(driver, fragment=0) is None


def test_of_two_attempts_the_newer_one_tells_the_story(
    driver: Driver, event: Callable[..., Any], next_attempt: Callable[[Run, int], Driver]
) -> None:
    driver.send(event(1, "spans", spans=list(GENERATED)))
    again = next_attempt(driver.run, 2)
    again.send(event(1, "spans", spans=[of_fragment("generate", "rollout-1", 30, 31)]))
    told = story(again)
    assert told is not None
    assert (told["attempt"], [one["lane"] for one in told["steps"]]) == (2, ["rollout-1"])
