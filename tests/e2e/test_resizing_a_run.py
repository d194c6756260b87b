"""A person gives a run another lane, then makes it a trainer, while the run works."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

NUM_PROMPTS = 2


@pytest.mark.timeout(900)
def test_a_lane_joins_a_run_from_the_page_and_becomes_a_trainer(rest: Rest, runs_page: RunsPage) -> None:
    spec = rest.preset("shapes-quick")
    spec["num_batches"] = 1000
    spec["prompts"] = {"inline": spec["prompts"]["inline"][:NUM_PROMPTS]}
    spec["batch"] |= {"num_prompts_per_batch": NUM_PROMPTS, "group_size": 4}
    run = rest.start_run("resized", spec)
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)

    def ended() -> list[dict[str, Any]]:
        """The resizes that have ended, newest first."""
        return [resize for resize in rest.get(f"/runs/{run}/size")["resizes"] if resize["ended_at"]]

    opened = runs_page.open().open_run("resized")
    dialog = opened.open_resize()
    expect(dialog).to_contain_text("Choose what is to change.")
    dialog.get_by_label("as rollout, on cpu").fill("1")
    expect(dialog).to_contain_text("training goes on")
    dialog.get_by_role("button", name="Resize", exact=True).click()
    wait_until(lambda: len(ended()) == 1, "the lane", START_SECONDS)
    assert [(lane["lane"], lane["step"]) for lane in ended()[0]["lanes"]] == [("rollout-1", "joined")]
    assert rest.num_lanes_held() == 4

    dialog = opened.open_resize()
    dialog.get_by_label("rollout-1 from now on").select_option("trainer")
    expect(dialog).to_contain_text("its trainer lanes start anew")
    dialog.get_by_role("button", name="Resize", exact=True).click()
    wait_until(lambda: len(ended()) == 2, "the trainer", START_SECONDS)
    assert [(resize["state"], resize["reason"]) for resize in ended()] == [("done", "")] * 2
    num_batches = rest.get(f"/runs/{run}")["num_batches_done"]
    rest.run_when(run, lambda body: body["num_batches_done"] > num_batches, "a batch on two ranks", START_SECONDS)
    opened.tab("Pipeline")
    resizes = opened.page.get_by_role("region", name="Resizes")
    expect(resizes).to_contain_text("rollout-1 joined as trainer", timeout=20 * SECONDS)
    expect(resizes).to_contain_text("training stood still for")
    trainers = {lane["lane"] for lane in rest.get(f"/runs/{run}/size")["lanes"] if lane["role"] == "trainer"}
    assert trainers == {"trainer-0", "rollout-1"}
    rest.act(run, "cancel")
    rest.run_when(run, lambda body: body["ended_at"] is not None, "the end", 60)
    wait_until(lambda: rest.num_lanes_held() == 0, "a pool without holders", 60)
