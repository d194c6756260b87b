"""The provider of OpenID Connect that sign-ins are tested with."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.web.dashboard.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider


@pytest.fixture(scope="module")
def server() -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider()
    yield provider
    provider.close()


@pytest.fixture
def provider(server: OpenIdProvider, settings: Settings) -> Iterator[OpenIdProvider]:
    """The server with its settings, as it was before."""
    before = dict(vars(server))
    settings.TANDEM_OIDC_ISSUER = server.issuer
    settings.TANDEM_OIDC_NAME = "Example"
    (app,) = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    configured = {
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "name": "Example",
        "settings": {"server_url": server.issuer, "scope": ["openid", "profile", "email"]},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {**settings.SOCIALACCOUNT_PROVIDERS["openid_connect"], "APPS": [{**app, **configured}]}
    }
    yield server
    vars(server).update(before)
