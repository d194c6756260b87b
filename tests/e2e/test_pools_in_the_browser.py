"""A pool admin labels a node, sees first what moves, and a researcher chooses the pool."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.pool_pages import PoolPage
from tests.e2e.rest import Rest
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

LIVE = 10 * SECONDS


@pytest.fixture
def fast(rest: Rest) -> Iterator[None]:
    """A pool that has no lane yet; afterwards the node is as before."""
    made = {"name": "fast", "description": "New cards.", "match_labels": {"model": "h100"}}
    assert rest.client.request("POST", "/pools", json=made).status_code == 201
    yield
    for node in rest.results("/nodes"):
        rest.client.request("PATCH", f"/nodes/{node['id']}", json={"labels": {}})
    assert rest.client.delete("/pools/fast").status_code == 204


@pytest.mark.timeout(300)
def test_labels_move_a_node_to_a_pool_and_a_run_is_started_there(rest: Rest, runs_page: RunsPage, fast: None) -> None:
    pool = PoolPage(runs_page.page, runs_page.address).open()
    (node,) = rest.results("/nodes")
    number = len(node["lanes"])
    pool.cell(f"Node {node['name']}").click()
    expect(pool.inspector).to_contain_text(re.compile(r"Pools\s*default"))
    pool.inspector.get_by_text("Labels and pool").click()
    save = pool.inspector.get_by_role("button", name="Show what moves")
    expect(save).to_be_disabled()
    pool.inspector.get_by_label("Labels, one").fill("model: h100\nrack: r2")
    save.click()
    expect(pool.inspector.get_by_role("list", name="What moves")).to_have_text(
        f"{number} lanes move from default to fast"
    )
    assert {lane["pool"] for lane in rest.results("/lanes")} == {"default"}
    pool.inspector.get_by_role("button", name="Save labels").click()
    expect(pool.inspector).to_contain_text(re.compile(r"Pools\s*fast"), timeout=LIVE)
    assert {lane["pool"] for lane in rest.results("/lanes")} == {"fast"}

    new_run = runs_page.open().new_run()
    # Free text until the pools have been read.
    new_run.section("Budget").click()
    expect(new_run.page.locator("select[name='lanes.pool']")).to_be_visible(timeout=LIVE)
    new_run.choose("Pool", "fast")
    expect(new_run.field("Pool").locator("xpath=..")).to_contain_text(f"New cards: {number} cpu; 0 waiting.")
    new_run.fill("Rollout lanes", str(number))
    expect(new_run.errors.first).to_contain_text("(CPU lanes of the pool fast)")
    new_run.fill("Rollout lanes", "1")
    pool_now = new_run.page.get_by_role("region", name="The pool now")
    pool_now.get_by_role("button", name="counted as a rollout lane").click()
    expect(new_run.field("Rollout lanes")).to_have_value("0")
    pool_now.get_by_role("button", pressed=False, disabled=False).filter(has_not_text=re.compile(r"\w")).first.click()
    expect(new_run.field("Rollout lanes")).to_have_value("1")
    expect(pool_now).to_contain_text("all free now")
    new_run.fill("Length", "1")
    new_run.start("in the fast pool")
    (run,) = [run for run in rest.results("/runs") if run["name"] == "in the fast pool"]
    assert rest.get(f"/runs/{run['id']}")["spec"]["lanes"]["pool"] == "fast"
    refused = rest.client.delete("/pools/fast")
    assert refused.status_code == 409 and "in the fast pool" in refused.json()["detail"]
    rest.act(run["id"], "cancel")
    rest.run_when(run["id"], lambda body: body["ended_at"] is not None, "the run's end", 60)
    expect(pool.open().page.get_by_role("combobox", name="Pool")).to_be_hidden()
