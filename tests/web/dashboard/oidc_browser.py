"""A browser at a provider of OpenID Connect, and who is signed in by it."""

from typing import Any

import httpx
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts.models import User

BEGIN = "/login/oidc/begin"


def at_the_provider(client: Client, address: str = BEGIN) -> str:
    """The address that the provider sends the browser back to."""
    asked = client.get(address)
    assert asked.status_code == 302
    return str(httpx.get(asked.headers["Location"]).headers["Location"])


def sign_in(client: Client | None = None, address: str = BEGIN) -> tuple[Client, Any]:
    browser = client or Client()
    return browser, browser.get(at_the_provider(browser, address))


def name_of(client: Client) -> str | None:
    """Who is signed in."""
    answer = client.get("/api/v1/me")
    return str(answer.json()["username"]) if answer.status_code == 200 else None


def is_linked(user: User, provider_id: str = "oidc") -> bool:
    return SocialAccount.objects.filter(user=user, provider=provider_id).exists()
