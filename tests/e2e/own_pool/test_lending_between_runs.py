"""Two elastic runs borrow idle lanes, and the owner of the lanes gets them back for a run of its own.

All three runs have the same spec but for their elastic bounds, and are deterministic: whatever was lent, asked back and
dropped, they must publish the same weights, bit for bit.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.pages import LoginPage
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import Stack
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]

NUM_LANES = 9
"""Six for two borrowers of a lane of each role, and three that they borrow and the owner's run needs."""
NUM_LOCAL_LANES = 4
RECLAIM_SECONDS = 5.0
REPORT_SECONDS = 15.0
"""How much later than the bound a lane may be free in the database, on a machine where nine processes share two
cores: the command waits for the driver's next post, and the report for its next one."""
NUM_OWNER_BATCHES = 3


def spec_of(rest: Rest, **sections: Any) -> dict[str, Any]:
    """Generation takes most of a batch, in eight fragments."""
    spec = rest.preset("shapes-quick")
    spec["prompts"] = {"inline": spec["prompts"]["inline"][:4]}
    spec["batch"] |= {"num_prompts_per_batch": 4, "group_size": 8, "fragment_size": 4, "micro_batch_size": 24}
    spec["sampling"] |= {"num_denoising_steps": 24, "num_eval_denoising_steps": 1}
    spec["pipeline"] = {"placement": "disaggregated", "deterministic": True}
    spec["checkpoint"] = {"every_num_batches": None}
    return {**spec, "seed": 7, "num_batches": 1000, **sections}


def start(rest: Rest, project: str, name: str, spec: dict[str, Any]) -> str:
    return str(rest.post("/runs", project=project, name=name, spec=spec)["id"])


def lends(rest: Rest, **filters: str) -> list[dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in {"kind": "between_runs", **filters}.items())
    return rest.results(f"/lends?{query}")


def published(rest: Rest, run: str) -> dict[int, str]:
    """The digest of each version that the run has published."""
    events = rest.results(f"/runs/{run}/events?types=publish&after_seq=0")
    return {event["body"]["policy_version"]: event["body"]["sha256"] for event in events}


@pytest.mark.timeout(1800)
def test_two_elastic_runs_borrow_and_the_owner_gets_its_lanes_back(
    stack: Stack, rest: Rest, nodes: Nodes, page: Page, tmp_path: Path
) -> None:
    nodes.join("second", (), NUM_LANES - NUM_LOCAL_LANES)
    wait_until(lambda: len(rest.results("/lanes")) == NUM_LANES, "the lanes of the second node", START_SECONDS)
    project = rest.results("/projects")[0]["id"]
    owner = rest.post("/projects", name="Owner")["id"]
    share = {"guaranteed_lanes": 3, "max_lanes": None, "weight": 1.0}
    rest.client.put(f"/shares/{owner}", json=share).raise_for_status()
    rest.client.put("/pool-policy", json={"reclaim_seconds": RECLAIM_SECONDS}).raise_for_status()

    elastic = {"max_rollout": 3}
    borrowers = [start(rest, project, name, spec_of(rest, elastic=elastic)) for name in ("one", "other")]
    wait_until(
        lambda: len([lend for lend in lends(rest) if lend["num_samples"]]) == 3, "three lanes at work on loan", 600
    )
    assert rest.num_lanes_held() == NUM_LANES
    assert {lend["lender"] for lend in lends(rest)} == {"Owner"}, "the other six lanes are in use"
    assert all(lend["predicted_gain_seconds"] > 0 for lend in lends(rest))
    assert {lend["run"] for lend in lends(rest)} <= set(borrowers)

    owners = start(rest, owner, "owner's", spec_of(rest, num_batches=NUM_OWNER_BATCHES))
    rest.run_when(owners, lambda body: body["state"] == "starting", "the lanes for the owner's run", 120)
    returned = [lend for lend in lends(rest) if lend["return_seconds"] is not None]
    assert len(returned) == 3
    assert {lend["for_run"] for lend in returned} == {owners}
    slowest = max(lend["return_seconds"] for lend in returned)
    num_dropped = sum(lend["num_dropped"] for lend in returned)
    print(f"given back {slowest:.1f} s after the notice at the latest, {num_dropped} fragments dropped")
    assert slowest < RECLAIM_SECONDS + REPORT_SECONDS

    runs = LoginPage(page, stack.address).log_in("admin", stack.password)
    runs.page.goto(f"{stack.address}/lending")
    expect(page.get_by_role("region", name="Lends")).to_contain_text("Owner", timeout=20 * SECONDS)
    expect(page.get_by_role("region", name="Timeline").get_by_role("button").first).to_be_visible()
    page.screenshot(path=tmp_path / "lending.png", full_page=True)

    done = rest.run_when(owners, lambda body: body["ended_at"] is not None, "the owner's run", START_SECONDS * 2)
    assert done["state"] == "completed"
    for run in borrowers:
        rest.act(run, "stop")
    for run in borrowers:
        body = rest.run_when(run, lambda body: body["ended_at"] is not None, "the borrower's end", START_SECONDS)
        assert body["state"] == "stopped"
        assert body["num_batches_done"] >= NUM_OWNER_BATCHES
    versions = [published(rest, run) for run in (owners, *borrowers)]
    common = set.intersection(*(set(found) for found in versions))
    assert len(common) > NUM_OWNER_BATCHES
    assert all(len({found[version] for found in versions}) == 1 for version in common), "not a bit differs"
    longest = set(versions[1]) & set(versions[2])
    assert all(versions[1][version] == versions[2][version] for version in longest)
    wait_until(lambda: rest.num_lanes_held() == 0, "a pool without holders", 60)
    assert all(lend["end"] for lend in lends(rest))
    graded = [lend for lend in lends(rest) if lend["realised_gain_seconds"] is not None]
    for lend in graded:
        print(
            f"{lend['run_name']} {lend['lane_in_run']}: batch {lend['measured_batch_seconds_before']:.2f} → "
            f"{lend['measured_batch_seconds']:.2f} s, predicted {lend['predicted_batch_seconds_before']:.2f} → "
            f"{lend['predicted_batch_seconds']:.2f} s; gain {lend['realised_gain_seconds']:.1f} s"
        )
    assert graded, "what a loan brought is measured"
