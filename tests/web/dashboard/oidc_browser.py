"""A browser at the provider of OpenID Connect, and who is signed in by it."""

from typing import Any

import httpx
from django.test import Client


def at_the_provider(client: Client, address: str = "/login/oidc") -> str:
    """The address that the provider sends the browser back to."""
    asked = client.get(address)
    assert asked.status_code == 302
    return str(httpx.get(asked.headers["Location"]).headers["Location"])


def sign_in(client: Client | None = None, address: str = "/login/oidc") -> tuple[Client, Any]:
    browser = client or Client()
    return browser, browser.get(at_the_provider(browser, address))


def name_of(client: Client) -> str | None:
    """Who is signed in."""
    answer = client.get("/api/v1/me")
    return str(answer.json()["username"]) if answer.status_code == 200 else None
