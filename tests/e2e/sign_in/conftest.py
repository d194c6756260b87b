"""A stack of its own: its accounts come from a provider of OpenID Connect, and get second factors."""

from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import Page

from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack
from tests.web.dashboard.openid_provider import CLIENT_SECRET, SECRET_FILE, OpenIdProvider, entry_of


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    running = OpenIdProvider()
    yield running
    running.close()


@pytest.fixture(scope="module")
def stack(provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("providers")
    (folder / SECRET_FILE).write_text(CLIENT_SECRET)
    file = folder / "providers.yaml"
    file.write_text(yaml.safe_dump([entry_of(provider, "example", "Example")]))
    with running_stack(tmp_path_factory.mktemp("stack"), TANDEM_OIDC_PROVIDERS=str(file)) as running:
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
