"""A stack of its own: its accounts come from a provider of OpenID Connect, and get second factors."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack
from tests.web.dashboard.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    running = OpenIdProvider()
    yield running
    running.close()


@pytest.fixture(scope="module")
def stack(provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    settings = {
        "TANDEM_OIDC_ISSUER": provider.issuer,
        "TANDEM_OIDC_CLIENT_ID": CLIENT_ID,
        "TANDEM_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "TANDEM_OIDC_NAME": "Example",
    }
    with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def rest(stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(stack)
    yield client
    client.close()


@pytest.fixture
def address(stack: Stack) -> str:
    """By a name: browsers make keys for no bare number."""
    return stack.address.replace("127.0.0.1", "localhost")


@pytest.fixture
def key(page: Page) -> str:
    """A key in the browser that has a fingerprint and gives it at once; its id for the DevTools protocol."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    return str(devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"])
