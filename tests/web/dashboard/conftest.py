"""The providers of OpenID Connect that sign-ins are tested with."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings

from tests.web.dashboard.openid_provider import CLIENT_SECRET, SECRET_FILE, OpenIdProvider, entry_of

Configure = Callable[..., None]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider()
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def second_server() -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider()
    yield provider
    provider.close()


@pytest.fixture
def provider(server: OpenIdProvider, configure: Configure) -> Iterator[OpenIdProvider]:
    """The server as it was before, as the one provider."""
    before = dict(vars(server))
    configure()
    yield server
    vars(server).update(before)


@pytest.fixture
def other_provider(
    provider: OpenIdProvider, second_server: OpenIdProvider, configure: Configure
) -> Iterator[OpenIdProvider]:
    """Another beside it, at which erin is somebody else; its groups make administrators."""
    before = dict(vars(second_server))
    second_server.person = {"sub": "e-81", "preferred_username": "erin.b", "email": "erin@example.org"}
    configure(others=[entry_of(second_server, "other", "Other") | {"group_roles": {"admins": ["root"]}}])
    yield second_server
    vars(second_server).update(before)


@pytest.fixture
def configure(server: OpenIdProvider, settings: Settings, tmp_path: Path) -> Configure:
    """Writes the file of the providers: the server's entry with changed fields, and others after it."""
    (tmp_path / SECRET_FILE).write_text(f"{CLIENT_SECRET}\n")
    file = tmp_path / "providers.yaml"
    settings.TANDEM_OIDC_PROVIDERS = str(file)

    def write(*, others: list[dict[str, Any]] | None = None, **fields: Any) -> None:
        file.write_text(yaml.safe_dump([entry_of(server, "oidc", "Example") | fields, *(others or [])]))

    return write
