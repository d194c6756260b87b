"""Which prompts teach little: counted from what drivers report of every group."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from runs.models import Run
from telemetry.models import GroupOutcomeRow
from telemetry.prompts.prompt_audit import MAX_VISITS_SHOWN, PromptAuditPage, PromptOrder, prompt_audit
from tests.web.telemetry.conftest import Driver

pytestmark = pytest.mark.django_db
PROMPTS = [f"prompt {index}" for index in range(5)]


def group(prompt_index: int, mean: float | None = 0.5, **fields: Any) -> dict[str, Any]:
    return {"prompt_index": prompt_index, "mean_reward": mean, "reward_std": 0.1, "has_spread": True, **fields}


@pytest.fixture
def driver(driver: Driver) -> Driver:
    """Of a run with these prompts."""
    Run.objects.filter(pk=driver.run_id).update(prompts=PROMPTS)
    return driver


@pytest.fixture
def audit(driver: Driver) -> Callable[..., PromptAuditPage]:
    def read(order: PromptOrder = PromptOrder.WITHOUT_SPREAD, offset: int = 0, limit: int = 50) -> PromptAuditPage:
        return prompt_audit(driver.run_id, PROMPTS, order=order, offset=offset, limit=limit)

    return read


def test_a_prompt_that_never_varies_comes_first_and_one_never_drawn_is_counted(
    driver: Driver, event: Callable[..., Any], audit: Callable[..., PromptAuditPage]
) -> None:
    driver.send(
        event(1, "groups", batch=1, groups=[group(0), group(3, 1.0, has_spread=False, reward_std=0.0)]),
        event(2, "groups", batch=2, groups=[group(3, 1.0, has_spread=False, reward_std=0.0), group(4, num_missing=2)]),
        event(3, "groups", batch=3, groups=[group(0, 0.7, num_dropped_draws=3, num_repeated_fragments=1), group(1)]),
    )
    page = audit()
    assert [row["prompt_index"] for row in page["results"]] == [3, 0, 1, 4]
    assert page["results"][0]["text"] == "prompt 3"
    assert page["results"][1]["visits"] == [
        {"batch": 1, "mean_reward": 0.5, "reward_std": 0.1, "has_spread": True},
        {"batch": 3, "mean_reward": 0.7, "reward_std": 0.1, "has_spread": True},
    ]
    assert page["totals"] == {
        "num_prompts": 5,
        "num_never_drawn": 1,
        "num_never_varying": 1,
        "num_groups": 6,
        "num_without_spread": 2,
        "num_dropped_draws": 3,
        "num_missing": 2,
        "num_repeated_fragments": 1,
    }
    assert audit(PromptOrder.MISSING)["results"][0]["prompt_index"] == 4
    assert audit(PromptOrder.REPEATED)["results"][0]["prompt_index"] == 0
    assert [row["prompt_index"] for row in audit(PromptOrder.PROMPT)["results"]] == [0, 1, 3, 4]


def test_a_group_without_any_score_comes_last_by_reward(
    driver: Driver, event: Callable[..., Any], audit: Callable[..., PromptAuditPage]
) -> None:
    driver.send(event(1, "groups", batch=1, groups=[group(0, None), group(1, -2.0), group(2, 3.0)]))
    assert [row["mean_reward"] for row in audit(PromptOrder.LOWEST_REWARD)["results"]] == [-2.0, 3.0, None]


def test_batches_that_a_resume_went_back_behind_are_not_counted(
    driver: Driver,
    event: Callable[..., Any],
    next_attempt: Callable[[Run, int], Driver],
    audit: Callable[..., PromptAuditPage],
) -> None:
    driver.send(*(event(batch, "groups", batch=batch, groups=[group(0)]) for batch in (1, 2, 3)))
    again = next_attempt(driver.run, 2)
    again.send(
        event(1, "groups", batch=9, groups=[group(2)]),
        event(2, "resumed", batch=1, policy_version=1, optimizer_step=4),
        event(3, "groups", batch=2, groups=[group(1)]),
    )
    stored = GroupOutcomeRow.objects.filter(run=driver.run).order_by("batch")
    assert list(stored.values_list("batch", "prompt_index", "attempt")) == [(1, 0, 1), (2, 1, 2)]
    assert audit()["totals"]["num_groups"] == 2


def test_only_the_newest_visits_of_a_prompt_are_listed(
    driver: Driver, event: Callable[..., Any], audit: Callable[..., PromptAuditPage]
) -> None:
    count = MAX_VISITS_SHOWN + 10
    driver.send(*(event(batch, "groups", batch=batch, groups=[group(0, float(batch))]) for batch in range(1, count)))
    (row,) = audit()["results"]
    assert [visit["batch"] for visit in row["visits"]] == list(range(count - MAX_VISITS_SHOWN, count))
    assert row["num_groups"] == count - 1


@pytest.mark.parametrize("order", list(PromptOrder))
@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_list_each_drawn_prompt_once_and_add_up_to_the_totals(
    driver: Driver,
    event: Callable[..., Any],
    audit: Callable[..., PromptAuditPage],
    order: PromptOrder,
    limit: int,
) -> None:
    draw = random.Random(limit)
    driver.send(
        *(
            event(
                batch,
                "groups",
                batch=batch,
                groups=[
                    group(prompt, draw.choice([None, draw.random()]), has_spread=draw.random() < 0.5, num_missing=batch)
                    for prompt in draw.sample(range(5), 2)
                ],
            )
            for batch in range(1, 8)
        )
    )
    totals, page = audit()["totals"], audit(order, 0, limit)
    rows = list(page["results"])
    while page["next_offset"] is not None:
        page = audit(order, page["next_offset"], limit)
        rows += page["results"]
    assert len({row["prompt_index"] for row in rows}) == len(rows) == 5 - totals["num_never_drawn"]
    for name in ("num_groups", "num_without_spread", "num_missing"):
        assert sum(row[name] for row in rows) == totals[name]
