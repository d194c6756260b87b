"""Two projects and a pool that is too full for either: an admin moves a run, takes a smaller size, and it starts."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.pool_pages import QueuePage
from tests.e2e.rest import START_SECONDS, Rest
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

LIVE = 15 * SECONDS
"""Within which a change must be seen without a reload; on a quiet machine it takes a second."""
POOL, HELD, SMALLER = 4, 2, 2
"""Lanes of the stack's pool, of the run that holds some, and of the size that would start beside it."""


def colocated(rest: Rest, num_trainer: int, num_batches: int) -> dict[str, Any]:
    """A small run of so many lanes that generate and train, and one that scores."""
    spec = rest.preset("shapes-quick")
    spec["num_batches"] = num_batches
    spec["prompts"] = {"inline": spec["prompts"]["inline"][:2]}
    spec["batch"] |= {"num_prompts_per_batch": 2, "group_size": 4}
    spec["pipeline"] = {"placement": "colocated"}
    spec["lanes"] |= {"num_rollout": 0, "num_trainer": num_trainer, "num_reward": 1}
    return spec


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_waits_is_moved_to_the_front_takes_fewer_lanes_and_starts(
    rest: Rest, runs_page: RunsPage, tmp_path: Path
) -> None:
    (node,) = rest.results("/nodes")
    assert node["num_lanes"] == POOL
    holder = rest.start_run("holder", colocated(rest, HELD - 1, 2000))
    rest.run_when(holder, lambda body: body["num_batches_done"] >= 4, "four batches", START_SECONDS)
    video = rest.post("/projects", name="Video")["id"]
    rest.post("/runs", project=video, name="large", spec=colocated(rest, POOL - 1, 5))
    small = rest.start_run("small", colocated(rest, SMALLER, 1000))

    queue = QueuePage(runs_page.page, runs_page.address).open()
    expect(queue.row("large")).to_contain_text(f"{POOL} CPU lanes")
    expect(queue.row("large")).to_contain_text("more must come free")
    expect(queue.row("large")).to_contain_text("Video")
    expect(queue.row("small")).to_contain_text(f"1 run ahead wants {POOL} CPU lanes")
    expect(queue.holder("holder")).to_contain_text("by its own batches", timeout=LIVE)
    expect(queue.row("large")).not_to_contain_text("unknown")
    queue.look_for_alternatives("small")
    expect(queue.waiting).to_contain_text("Nothing smaller would start now")

    queue.row("small").focus()
    queue.page.keyboard.press("Alt+Home")
    queue.give_reason("deadline", "Move to the front")
    expect(queue.row("small")).to_contain_text("moved to the front by admin: deadline", timeout=LIVE)
    expect(queue.row("small")).to_contain_text("1", timeout=LIVE)
    queue.page.screenshot(path=tmp_path / "moved.png", full_page=True)

    queue.look_for_alternatives("small")
    queue.look_for_alternatives("small")
    expect(queue.alternatives).to_contain_text("1 trainer, 1 reward lanes starts now", timeout=LIVE)
    queue.alternatives.get_by_role("button", name="Ask for this").click()
    expect(queue.holder("small")).to_be_visible(timeout=LIVE)
    expect(queue.row("small")).to_have_count(0)
    rest.run_when(small, lambda body: body["state"] == "running", "the small run", START_SECONDS)
    assert len(rest.get(f"/runs/{small}/size")["lanes"]) == SMALLER

    queue.try_policy("Video", guaranteed=POOL)
    expect(queue.policy).to_contain_text("Nothing would change")
    queue.policy.get_by_role("button", name="Save the policy").click()
    expect(queue.quota("Video")).to_contain_text(f"{POOL} guaranteed", timeout=LIVE)
