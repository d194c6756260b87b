"""Somebody comes from the provider, adds a passkey, unlinks the provider, and the passkey alone lets them in again."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.stack import Stack
from tests.e2e.waits import SECONDS
from tests.web.dashboard.openid_provider import OpenIdProvider

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}


def picture(page: Page, folder: Path, name: str) -> None:
    """Light, dark, and as wide as a phone; nothing may stand out of the page."""
    for theme, size in (("light", DESK), ("dark", DESK), ("light", PHONE)):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.screenshot(path=folder / f"{name}-{theme}-{size['width']}.png", full_page=True, animations="disabled")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (name, size)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


@pytest.mark.timeout(300)
def test_from_the_provider_to_a_passkey_and_back_in(
    page: Page, address: str, provider: OpenIdProvider, key: str, tmp_path: Path
) -> None:
    page.goto(f"{address}/pool")
    expect(page.get_by_role("button", name="Use a passkey")).to_be_visible(timeout=20 * SECONDS)
    picture(page, tmp_path, "login")
    page.get_by_role("link", name="Log in by Example").click()
    expect(page).to_have_url(f"{address}/pool")

    page.goto(f"{address}/account")
    you = page.get_by_role("region", name="You")
    expect(you).to_contain_text("erin")
    links = page.get_by_role("region", name="Sign-in by providers")
    expect(links).to_contain_text("linked")
    picture(page, tmp_path, "account-linked")
    page.get_by_role("link", name="Unlink Example").click()
    page.get_by_role("button", name="Unlink it").click()
    expect(page.get_by_role("alert")).to_contain_text("set a password or add a passkey first")
    picture(page, tmp_path, "unlink-refused")

    page.goto(f"{address}/account/security-keys/add")
    page.get_by_role("textbox", name="Name").fill("laptop")
    page.get_by_label("Passkey: it logs in alone").check()
    expect(page.get_by_role("button", name="Add it")).to_be_visible()
    picture(page, tmp_path, "add-key")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible(timeout=20 * SECONDS)
    page.get_by_role("link", name="I have kept them").click()
    factor = page.get_by_role("region", name="Second factor")
    expect(factor).to_contain_text("laptop")
    expect(factor).to_contain_text("passkey, logs in alone")
    picture(page, tmp_path, "account-with-passkey")

    page.get_by_role("link", name="Unlink Example").click()
    page.get_by_role("button", name="Unlink it").click()
    # The session began there, so it has ended.
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{address}/account", timeout=20 * SECONDS)
    expect(you).to_contain_text("erin")
    expect(factor).to_contain_text("last used")
    expect(links).to_contain_text("not linked")
    page.get_by_role("link", name="Remove laptop").click()
    page.get_by_role("link", name="Use a security key").click()
    page.get_by_role("button", name="Use a security key").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing but this passkey signs you in")
    picture(page, tmp_path, "remove-refused")
    print(f"pictures: {tmp_path}")


@pytest.mark.timeout(300)
def test_a_key_is_asked_for_after_the_password(
    page: Page, address: str, stack: Stack, key: str, tmp_path: Path
) -> None:
    def log_in() -> None:
        page.goto(f"{address}/login?next=/account")
        page.get_by_label("User name").fill("admin")
        page.get_by_label("Password").fill(stack.password)
        page.get_by_role("button", name="Log in").click()

    log_in()
    page.get_by_role("link", name="Add a security key or passkey").click()
    page.get_by_label("Password of admin").fill(stack.password)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible(timeout=20 * SECONDS)
    page.context.clear_cookies()
    log_in()
    expect(page.get_by_role("button", name="Use a security key")).to_be_visible(timeout=20 * SECONDS)
    picture(page, tmp_path, "second-factor")
    page.get_by_role("button", name="Use a security key").click()
    expect(page.get_by_role("region", name="Second factor")).to_contain_text("security key", timeout=20 * SECONDS)
    expect(page).to_have_url(f"{address}/account")
    page.get_by_role("link", name="New recovery codes").click()
    picture(page, tmp_path, "confirm")
    print(f"pictures: {tmp_path}")
