"""One stack and one browser for the whole folder. No Django here: Playwright keeps an event loop in this thread."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.pages import LoginPage, RunsPage
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack

CHROMIUM = "/usr/bin/chromium"
MAX_PAUSE_SECONDS = 1.0
"""So that a test need not wait ten minutes for a paused run to be parked."""


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Beside the shipped model it offers `wan`, a tiny model that draws clips."""
    from worker.contracts.names import ModelFamily
    from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint

    models = tmp_path_factory.mktemp("models")
    build_tiny_checkpoint(ModelFamily.WAN, models)
    settings = {"TANDEM_MAX_PAUSE_SECONDS": str(MAX_PAUSE_SECONDS), "TANDEM_MODEL_ROOTS": str(models)}
    with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
        yield running


@pytest.fixture(scope="session")
def rest(stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(stack)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_left_running(rest: Rest) -> Iterator[None]:
    """A run that a failed test left would keep the pool's lanes from every test after it."""
    yield
    for run in rest.results("/runs"):
        if "cancel" in run["legal_actions"]:
            rest.act(run["id"], "cancel")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"the browser test needs {CHROMIUM}: install Debian's chromium package")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh browser profile; an error on a page's console fails the test."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert not problems, f"a script of the page failed: {problems}"


@pytest.fixture
def runs_page(page: Page, stack: Stack) -> RunsPage:
    """Logged in as the admin."""
    return LoginPage(page, stack.address).log_in("admin", stack.password)
