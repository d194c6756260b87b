"""A pool admin cordons and drains on the pool page, by mouse and by keyboard, while somebody else watches."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.pages import LoginPage, RunsPage
from tests.e2e.pool_pages import PoolPage
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack
from tests.e2e.waits import SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

LIVE = 10 * SECONDS
"""Within which a change must be seen without a reload; on a quiet machine it takes half a second."""


@pytest.fixture
def watching(browser: Browser, stack: Stack) -> Iterator[PoolPage]:
    """Another browser with the pool page open."""
    context = browser.new_context()
    page: Page = context.new_page()
    LoginPage(page, stack.address).log_in("admin", stack.password)
    yield PoolPage(page, stack.address).open()
    context.close()


@pytest.mark.timeout(300)
def test_a_lane_is_cordoned_and_a_node_drained_and_both_resumed(
    rest: Rest, runs_page: RunsPage, watching: PoolPage
) -> None:
    pool = PoolPage(runs_page.page, runs_page.address).open()
    (node,) = rest.results("/nodes")
    lane = f"Lane {node['lanes'][0]['label']}"
    pool.cell(lane).click()
    expect(pool.inspector).to_contain_text("Schedulable yes")
    pool.act("Cordon", "new fans")
    for page in (pool, watching):
        expect(page.cell(f"{lane}, cordoned")).to_be_visible(timeout=LIVE)
    expect(pool.inspector).to_contain_text(f"{lane} is cordoned by admin since")
    expect(pool.inspector.get_by_role("region", name="History")).to_contain_text("active → cordoned, new fans (admin)")
    pool.act("Resume")
    expect(watching.cell(f"{lane}, available")).to_be_visible(timeout=LIVE)

    name = f"Node {node['name']}"
    pool.cell(name).focus()
    pool.page.keyboard.press("Enter")
    expect(pool.inspector.get_by_role("heading", name=node["name"])).to_be_visible()
    pool.act("Drain", "new cables")
    expect(watching.cell(f"{name}, drained")).to_be_visible(timeout=LIVE)
    pool.act("Resume")
    expect(watching.cell(f"{name}, available")).to_be_visible(timeout=LIVE)
    pool.cell(name).focus()
    pool.page.keyboard.press("ArrowDown")
    pool.page.keyboard.press("Space")
    expect(pool.inspector).to_contain_text("1 node and 1 lane")
    pool.page.keyboard.press("Escape")
    expect(pool.inspector).to_contain_text("Nothing selected")
