"""A run paused for long gives its lanes back, and goes on from the checkpoint it was parked with; once stopped, it goes
on by the button of its page."""

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.run_pages import RunPage

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]

NUM_PROMPTS = 2


@pytest.mark.timeout(600)
def test_a_run_paused_for_long_is_parked_and_goes_on_where_it_was(rest: Rest, runs_page: RunsPage) -> None:
    spec = rest.preset("shapes-quick")
    spec["num_batches"] = 1000
    spec["prompts"] = {"inline": spec["prompts"]["inline"][:NUM_PROMPTS]}
    spec["batch"] |= {"num_prompts_per_batch": NUM_PROMPTS, "group_size": 4}
    spec["checkpoint"]["every_num_batches"] = None  # so that the checkpoint there is, is the one of the parking
    run = rest.start_run("paused for long", spec)
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)

    rest.act(run, "pause")
    paused = rest.run_when(run, lambda body: body["state"] == "paused", "the pause", 60)
    wait_until(lambda: rest.num_lanes_held() == 0, "a pool without holders", 60)
    parked = rest.get(f"/runs/{run}")
    assert parked["state"] == "paused"
    assert parked["legal_actions"] == ["resume", "stop", "cancel"]
    assert parked["resume_batch"] == paused["num_batches_done"]
    (first,) = rest.results(f"/runs/{run}/attempts")
    assert (first["outcome"], first["detail"]) == (
        "parked",
        f"paused for long: lanes freed, batch {paused['num_batches_done']} is kept",
    )
    (checkpoint,) = rest.results(f"/runs/{run}/checkpoints")

    rest.act(run, "resume")
    on = rest.run_when(
        run, lambda body: body["num_batches_done"] > paused["num_batches_done"], "the next batch", START_SECONDS
    )
    assert (on["state"], on["attempt"]) == ("running", 2)
    assert rest.results(f"/runs/{run}/attempts")[1]["resumed_from"] == checkpoint["uri"]
    rest.act(run, "stop")
    ended = rest.run_when(run, lambda body: body["ended_at"] is not None, "the end", 60)
    assert (ended["state"], "resume" in ended["legal_actions"]) == ("stopped", True)
    assert ended["headline"]["batch_after"] == ended["num_batches_done"], "evaluated where it stopped"
    assert "shape_judge" in ended["headline"]["after"], "the judge's weights came with the code"
    curve = rest.get(f"/runs/{run}/metrics?keys=reward/mean&max_points=5000")["series"]["reward/mean"]
    assert curve["batch"] == list(range(1, ended["num_batches_done"] + 1)), "each batch once, none twice"

    _goes_on_by_its_button(runs_page, run, num_batches_done=ended["num_batches_done"])


def _goes_on_by_its_button(runs_page: RunsPage, run: str, *, num_batches_done: int) -> None:
    runs_page.page.goto(f"{runs_page.address}/runs/{run}")
    page = RunPage(runs_page.page)
    page.wait_for_state("stopped", timeout_seconds=10)
    page.page.get_by_role("button", name="Resume", exact=True).click()
    page.wait_for_state("queued", "starting", "running", timeout_seconds=10)
    page.wait_for_batches(num_batches_done + 1, timeout_seconds=START_SECONDS)
    expect(page.page.get_by_text("attempt 3 of")).to_be_visible()
