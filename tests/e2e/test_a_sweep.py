"""A tiny sweep through the whole stack: the worker makes its runs, and the point that falls behind is pruned."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import START_SECONDS, Rest, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]

RATE = "optimizer.learning_rate"


@pytest.mark.timeout(900)
def test_a_sweep_trains_its_points_prunes_the_worse_one_and_shows_both(rest: Rest, runs_page: RunsPage) -> None:
    spec = rest.preset("shapes-quick")
    spec["num_batches"] = 4
    plan = {
        "name": "two rates",
        "spec": spec,
        "space": {RATE: {"kind": "choice", "values": [1.5e-3, 1e-6]}},
        "max_parallel_runs": 1,
        # 32 samples a batch.
        "pruner": {"kind": "successive_halving", "min_samples": 64, "reduction_factor": 2},
        # A curve that says which point is better on every machine; rewards of two batches may go either way.
        "objective": {"metric": "policy/learning_rate"},
    }
    made = rest.post("/sweeps", project=rest.results("/projects")[0]["id"], sweep=plan)
    bodies: list[dict[str, Any]] = []

    def has_ended() -> bool:
        bodies.append(rest.get(f"/sweeps/{made['id']}"))
        return bodies[-1]["ended_at"] is not None

    wait_until(has_ended, "the sweep's end", 2 * START_SECONDS)
    ended = bodies[-1]
    assert (ended["state"], ended["reason"]) == ("completed", "")
    assert [(point["state"], point["values"][RATE]) for point in ended["points"]] == [
        ("completed", 1.5e-3),
        ("pruned", 1e-6),
    ]
    better, worse = (rest.get(f"/runs/{point['runs'][0]['id']}") for point in ended["points"])
    assert (better["state"], better["num_batches_done"]) == ("completed", 4)
    assert worse["state"] in ("stopped", "completed"), "it may have ended before it was told to stop"
    reasons = [move["reason"] for move in rest.results(f"/runs/{worse['id']}/transitions")]
    assert reasons[0] == "created by the sweep two rates: point 2, seed 0"
    (rung,) = ended["points"][1]["rungs"]
    assert (rung["num_samples"], rung["is_pruned"]) == (64, True)

    page = runs_page.page
    page.goto(f"{runs_page.address}/sweeps/{made['id']}")
    expect(page.get_by_role("region", name="Points").get_by_text("place 2 of the 2 points")).to_be_visible()
    expect(page.locator(".parallel-line")).to_have_count(2)
