"""A GPU goes round: an admin cordons it, drains it under a run, maintains it, asks for the re-test, and it works again.

The GPUs are recorded traces and compute on this machine's CPU; browser, Ray, its node, run and test are real.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.pages import LoginPage
from tests.e2e.pool_pages import GpuPage, PoolPage
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import Stack
from tests.e2e.waits import SECONDS
from tests.node.traces import cards

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

LIVE = 15 * SECONDS
"""Within which a change must be seen without a reload; on a quiet machine it takes a second."""
TEST_SECONDS = 300.0
"""For a re-test on a CPU that others use: it loads torch and the engine twice."""


@pytest.fixture
def node(nodes: Nodes) -> str:
    """A machine with two recorded GPUs, which a run of one rollout and one trainer lane needs both."""
    nodes.join("big", cards("H100", 2))
    return "big"


def long_run(rest: Rest, name: str) -> str:
    """A run that ends when it is told to."""
    return rest.start_run(name, {**rest.preset("shapes-quick"), "num_batches": 500})


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_gpu_is_cordoned_drained_maintained_tested_and_takes_a_run_again(
    stack: Stack, rest: Rest, page: Page, node: str
) -> None:
    LoginPage(page, stack.address).log_in("admin", stack.password)
    pool = PoolPage(page, stack.address).open()

    # Cordon, by keyboard alone: the run that needs both GPUs waits, and is told by whom and why.
    pool.cell(f"GPU 0, available, {node}").focus()
    page.keyboard.press("Enter")
    pool.inspector.get_by_label("Reason").focus()
    page.keyboard.type("too hot")
    pool.inspector.get_by_role("button", name="Cordon", exact=True).focus()
    page.keyboard.press("Enter")
    expect(pool.cell(f"GPU 0, cordoned, {node}")).to_be_visible(timeout=LIVE)
    run = long_run(rest, "first run")
    wait_until(lambda: "cordoned" in rest.results("/queue")[0]["why"], "the reason of the wait", START_SECONDS)
    why = rest.results("/queue")[0]["why"]
    assert f"GPU 0 of {node} is cordoned" in why and "by admin" in why and "too hot" in why
    pool.inspector.get_by_role("button", name="Resume", exact=True).focus()
    page.keyboard.press("Enter")
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)

    # Its own page, by keyboard; drained under the run.
    pool.inspector.get_by_role("link", name="History, charts and tests of this GPU").focus()
    page.keyboard.press("Enter")
    gpu = GpuPage(page)
    expect(page.get_by_role("heading", name=f"GPU 0 of {node}")).to_be_visible()
    expect(gpu.state).to_have_text("allocated", timeout=LIVE)
    gpu.act("Drain", "new cables")
    expect(gpu.waits).to_contain_text("Draining waits until first run has ended", timeout=LIVE)
    expect(gpu.waits.get_by_role("progressbar")).to_be_visible(timeout=LIVE)
    expect(gpu.waits).to_contain_text("of 500 batches, running", timeout=LIVE)
    expect(gpu.uses.first).to_contain_text("first run")
    expect(gpu.uses.first).to_contain_text("now")
    rest.act(run, "cancel")
    expect(gpu.state).to_have_text("draining", timeout=60 * SECONDS)
    expect(gpu.waits).to_contain_text("Drained: nothing runs on it", timeout=LIVE)
    expect(gpu.uses.first).not_to_contain_text("now", timeout=LIVE)

    gpu.act("Maintenance", "new cables")
    expect(gpu.state).to_have_text("maintenance", timeout=LIVE)
    expect(gpu.waits).to_contain_text("Maintenance lasts until somebody resumes it; then it is tested")

    # The re-test by its button, with its steps as they end.
    gpu.act("Re-test", "are the cables good?")
    expect(gpu.state).to_have_text("awaiting test", timeout=LIVE)
    expect(gpu.step("The right GPU")).to_be_visible(timeout=LIVE)
    expect(gpu.waits).to_contain_text("Its test", timeout=LIVE)
    expect(gpu.step("Matrix products")).to_contain_text("passed", timeout=TEST_SECONDS * SECONDS)
    expect(gpu.state).to_have_text("available", timeout=TEST_SECONDS * SECONDS)
    for step in ("The right GPU", "Matrix products", "Memory sweep"):
        expect(gpu.step(step)).to_contain_text("passed")
    expect(gpu.history("awaiting_test → active")).to_contain_text("GPU test", timeout=LIVE)
    expect(gpu.waits).to_have_count(0)

    # It takes a run again.
    again = long_run(rest, "second run")
    expect(gpu.state).to_have_text("allocated", timeout=LIVE)
    expect(gpu.uses.first).to_contain_text("second run", timeout=LIVE)
    rest.run_when(again, lambda body: body["num_batches_done"] >= 1, "a batch on it", START_SECONDS)
    lanes = rest.get(f"/runs/{again}/timeline")["lanes"]
    assert {tuple(lane["uuids"]) for lane in lanes if lane["node"] == node and lane["uuids"]} == {
        ("GPU-h100-0",),
        ("GPU-h100-1",),
    }
    assert [use["role"] for use in rest.results(f"/gpus/{page.url.rpartition('/')[2]}/uses")][1] == "test"
    rest.act(again, "cancel")
