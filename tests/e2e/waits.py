"""How browser tests wait. No test logic here."""

import time
from collections.abc import Callable

from playwright.sync_api import Page

SECONDS = 1000.0
"""Playwright counts in milliseconds."""
POLL_SECONDS = 0.1


def wait_until(page: Page, holds: Callable[[], bool], what: str, timeout_seconds: float) -> None:
    """Ask again until it holds: the page's content security policy forbids Playwright's own `wait_for_function`."""
    deadline = time.monotonic() + timeout_seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {timeout_seconds:.0f} s")
        page.wait_for_timeout(POLL_SECONDS * SECONDS)
