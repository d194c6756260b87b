"""What all pages have in common: navigation, command palette, that axe finds nothing serious on any of them, and that
none breaks the content security policy."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import Rest
from tests.e2e.waits import POLL_SECONDS, SECONDS

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = [
    *("/", "/runs", "/runs/new", "/compare", "/queue", "/lending", "/prompt-sets", "/projects", "/account"),
    *("/pool", "/pool/occupancy", "/usage", "/audit", "/retention", "/sweeps", "/sweeps/new"),
]
DOCUMENTATION = "/api/v1/docs"
RECORDS = ["auth/user", "auth/user/add", "accounts/apitoken", "audit/auditentry"]
OTHER_PAGES = [
    *("/account/password", "/account/second-factor", "/account/recovery-codes", "/runs/no-such-run", "/nowhere"),
    *("/admin/", "/admin/auth/user/?is_active__exact=1", *(f"/admin/{name}/" for name in RECORDS)),
]
"""Pages that other tests look at: forms of the account, errors, and Django's admin."""
NOTE_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));"""
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""The other rules say the same of both themes."""
SERIOUS = """async ([theme, rules]) => {
  document.documentElement.dataset.theme = theme;
  const found = await axe.run(document, {resultTypes: ["violations"], ...rules});
  return found.violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes[0].html} (${nodes[0].failureSummary})`);
}"""
LOADED_SECONDS = 3.0
"""Panels below the fold load when they come into view: what still loads after this is judged as it stands."""


@pytest.fixture
def ended_run(rest: Rest) -> str:
    run = rest.start_run("looked at", rest.preset("shapes-quick"))
    rest.act(run, "cancel")
    return run


@pytest.fixture
def stopped_sweep(rest: Rest) -> str:
    space = {"optimizer.learning_rate": {"kind": "choice", "values": [1e-3, 2e-3]}}
    plan = {"name": "looked at", "spec": rest.preset("shapes-quick"), "space": space}
    sweep = str(rest.post("/sweeps", project=rest.results("/projects")[0]["id"], sweep=plan)["id"])
    rest.post(f"/sweeps/{sweep}/stop")
    return sweep


@pytest.mark.timeout(300)
def test_axe_finds_nothing_serious_on_any_page_in_light_and_dark(
    runs_page: RunsPage, ended_run: str, stopped_sweep: str
) -> None:
    page, script = runs_page.page, AXE.read_text()
    violations = policy_violations(page)
    of_a_run = [f"/runs/{ended_run}", f"/runs/{ended_run}?tab=pipeline", f"/compare?runs={ended_run}"]
    for path in [*PAGES, DOCUMENTATION, *of_a_run, f"/sweeps/{stopped_sweep}", f"/sweeps/new?from={ended_run}"]:
        page.goto(runs_page.address + path)
        _wait_until_loaded(page)
        if path == DOCUMENTATION:
            expect(page.locator(".opblock").first).to_be_visible(timeout=20 * SECONDS)
        page.evaluate(script)
        for theme, rules in RULES.items():
            assert page.evaluate(SERIOUS, [theme, rules]) == [], f"{path}, {theme}"
        assert violations == [], path


def policy_violations(page: Page) -> list[str]:
    """What breaks the content security policy on the pages opened from now on."""
    found: list[str] = []
    page.on("console", lambda said: found.append(said.text) if said.text.startswith("policy: ") else None)
    page.add_init_script(NOTE_VIOLATIONS)
    return found


def test_forms_errors_and_the_records_keep_to_the_content_security_policy(runs_page: RunsPage) -> None:
    page = runs_page.page
    violations = policy_violations(page)
    for path in OTHER_PAGES:
        answer = page.goto(runs_page.address + path)
        assert answer is not None and "script-src" not in answer.headers["content-security-policy"]
        assert answer.headers["content-security-policy"].startswith("default-src 'self';")
        assert violations == [], path
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: '1'}))")
    page.wait_for_timeout(100)
    assert len(violations) == 1 and "script-src-elem inline" in violations[0], "it is noticed where a script is inline"
    page.context.clear_cookies()
    violations.clear()
    page.goto(f"{runs_page.address}/login")
    assert violations == []


def test_on_a_phone_the_navigation_is_a_drawer_that_keeps_the_focus(runs_page: RunsPage) -> None:
    page = runs_page.page
    page.set_viewport_size({"width": 390, "height": 844})
    button, main = page.get_by_role("button", name="Navigation"), page.get_by_role("main")
    drawer = page.get_by_role("dialog", name="Navigation")
    button.click()
    expect(drawer).to_be_visible()
    inside = "document.querySelector('#rail').contains(document.activeElement)"
    for keys in (["Tab"] * 24, ["Shift+Tab"] * 24):
        for key in keys:
            page.keyboard.press(key)
            assert page.evaluate(inside), f"{key} left the drawer"
    assert main.evaluate("main => main.inert")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(button).to_be_focused()
    assert not main.evaluate("main => main.inert")


def test_the_command_palette_finds_pages_and_keys_open_them(runs_page: RunsPage) -> None:
    page = runs_page.page
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    expect(palette.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("occ")
    expect(palette.get_by_role("option")).to_have_text(["Occupancygo"])
    page.keyboard.press("Enter")
    _wait_until_keys_are_heard(page, "/pool/occupancy")
    page.keyboard.press("g")
    page.keyboard.press("q")
    _wait_until_keys_are_heard(page, "/queue")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def _wait_until_keys_are_heard(page: Page, path: str) -> None:
    """An address is shown as soon as the server answers; the page's script, which hears keys, ran when its document is
    complete."""
    page.wait_for_url(f"**{path}", wait_until="domcontentloaded")


def _wait_until_loaded(page: Page) -> None:
    deadline = time.monotonic() + LOADED_SECONDS
    while page.get_by_role("status", name="Loading").count() > 0 and time.monotonic() < deadline:
        page.wait_for_timeout(POLL_SECONDS * SECONDS)
