"""The log of a run as a person uses it: everything on one axis, found by words, and the way back."""

import re

from playwright.sync_api import expect

from tests.e2e.run_pages import RunPage


def is_searched(run: RunPage) -> None:
    """The log tab: the newest last, words found on the server and marked, an entry among its neighbours."""
    run.tab("Logs & events")
    log = run.page.get_by_role("region", name="Log")
    entries = log.locator(".log-entry")
    expect(entries.last).to_contain_text("running → completed")
    expect(entries.last).to_be_in_viewport()
    log.get_by_label("Search the log").fill("trainer-0 is READY")
    expect(entries).to_have_count(1)
    expect(entries.locator("mark").first).to_have_text("trainer-0 is ready")
    expect(run.page).to_have_url(re.compile(r"\?search=trainer-0\+is\+READY#logs$"))
    entries.locator(".log-text").click()
    log.get_by_role("button", name="Around this entry").click()
    expect(log.locator(".log-entry.marked")).to_contain_text("trainer-0 is ready")
    expect(log).to_contain_text("Phase: load model")
