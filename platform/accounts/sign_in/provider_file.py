"""The providers of OpenID Connect that people may sign in by: the file that `TANDEM_OIDC_PROVIDERS` names.

Without models, for the settings' check. The file is looked at again at every use, so that a change needs no restart; if
it cannot be read any more, the log says so, and what was read before holds.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Hosts whose traffic does not leave the machine, so that it needs no TLS."""
MAX_ID_CHARS, MAX_NAME_CHARS = 40, 40
Text = Annotated[str, Field(min_length=1)]

logger = logging.getLogger(__name__)


class ProvidersInvalid(ValueError):
    """The file of `TANDEM_OIDC_PROVIDERS` cannot be read."""


class GroupRoles(BaseModel):
    """Names of groups, by what they give."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    admins: frozenset[str] = frozenset()
    """Administer the installation."""
    pool_admins: frozenset[str] = frozenset()
    projects: Mapping[str, Mapping[Literal["viewer", "editor", "owner"], frozenset[str]]] = Field(default_factory=dict)
    """By the project's slug."""

    def rights(self, groups: frozenset[str]) -> set[str]:
        """Values of `accounts.models.MappedRight`."""
        given = {"admin": self.admins, "pool_admin": self.pool_admins}
        return {right for right, names in given.items() if names & groups}

    def roles(self, groups: frozenset[str]) -> set[tuple[str, str]]:
        """Every role that the groups give, with the slug of its project."""
        return {(slug, role) for slug, by in self.projects.items() for role, names in by.items() if names & groups}

    @property
    def named(self) -> frozenset[str]:
        """All groups that give something."""
        of_projects = (names for by in self.projects.values() for names in by.values())
        return frozenset().union(self.admins, self.pool_admins, *of_projects)


class Provider(BaseModel):
    """One entry of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=MAX_ID_CHARS)]
    """In the address that the provider sends people back to, and in the links of accounts with it."""
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    """On the login page, after "Log in by"."""
    issuer: str
    """As the provider's discovery document writes it."""
    client_id: Text
    client_secret_file: Path
    """A file that holds the secret alone; a relative path starts at the folder of this file."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: Text = "groups"
    """Dots lead into objects."""
    required_groups: frozenset[str] = frozenset()
    """Who is in none of them does not come in; without any everybody does whom the provider signs in."""
    link_by_email: bool = False
    """Whether a verified address opens the local account that has it."""
    trusted_email_domains: frozenset[str] = frozenset()
    """Domains whose addresses count as verified where the provider does not say so."""
    session_hours: Annotated[float, Field(gt=0)] = 12.0
    """When a session ends that began there, and what its groups gave with it. By default a working day."""
    group_roles: GroupRoles = GroupRoles()

    @field_validator("issuer")
    @classmethod
    def _is_over_tls(cls, issuer: str) -> str:
        parts = urlsplit(issuer)
        if not parts.hostname or (parts.scheme != "https" and parts.hostname not in LOOPBACK):
            raise ValueError(f"must begin with https://, got {issuer!r}")
        return issuer.rstrip("/")

    @field_validator("client_secret_file")
    @classmethod
    def _holds_a_secret(cls, path: Path, info: ValidationInfo) -> Path:
        path = (info.context or {}).get("folder", Path()) / path
        try:
            is_empty = not path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from error
        if is_empty:
            raise ValueError(f"{path} is empty: put the secret there that the provider gave")
        return path

    @field_validator("scopes")
    @classmethod
    def _asks_for_an_id_token(cls, scopes: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scopes:
            raise ValueError("must hold openid, without which there is no ID token")
        return scopes

    @field_validator("trusted_email_domains")
    @classmethod
    def _as_domains_compare(cls, domains: frozenset[str]) -> frozenset[str]:
        return frozenset(domain.lower() for domain in domains)

    @property
    def client_secret(self) -> str:
        return self.client_secret_file.read_text().strip()

    @cached_property
    def kept_groups(self) -> frozenset[str]:
        """The groups that decide anything here; no others are kept of a person."""
        return self.group_roles.named | self.required_groups

    def admits(self, groups: frozenset[str]) -> bool:
        return not self.required_groups or bool(self.required_groups & groups)


@dataclass(frozen=True, slots=True)
class _Reading:
    stamp: tuple[int, int]
    """Time and size of the file."""
    providers: tuple[Provider, ...]


_newest: dict[str, _Reading] = {}
"""By path. Of this process."""


def providers() -> tuple[Provider, ...]:
    """All of them, in the file's order; none without a file.

    Raises:
        ProvidersInvalid: the file cannot be read, and never could by this process.
    """
    path = settings.TANDEM_OIDC_PROVIDERS
    if not path:
        return ()
    before, stamp = _newest.get(path), _stamp(path)
    if before is None or before.stamp != stamp:
        try:
            _newest[path] = _Reading(stamp, read_providers(Path(path)))
        except ProvidersInvalid as error:
            if before is None:
                raise
            logger.error("what was read before holds: %s", error)
            _newest[path] = _Reading(stamp, before.providers)
    return _newest[path].providers


def provider_named(provider_id: str) -> Provider | None:
    return next((provider for provider in providers() if provider.id == provider_id), None)


def provider_names() -> str:
    """In a sentence."""
    return " or ".join(provider.name for provider in providers())


def read_providers(path: Path) -> tuple[Provider, ...]:
    """The file's content. Raises `ProvidersInvalid`."""
    try:
        entries: Any = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ProvidersInvalid(f"{path} cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise ProvidersInvalid(f"{path} must be a list of providers, got {type(entries).__name__}")
    found = tuple(_provider(path, number, entry) for number, entry in enumerate(entries, 1))
    for one, other in combinations(found, 2):
        for field in ("id", "name", "issuer"):
            # By one issuer a person would have two accounts.
            if getattr(one, field) == getattr(other, field):
                raise ProvidersInvalid(f"{path}: two providers have the {field} {getattr(one, field)}")
    return found


def _provider(path: Path, number: int, entry: Any) -> Provider:
    try:
        return Provider.model_validate(entry, context={"folder": path.parent})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "provider"
        said = first["msg"].removeprefix("Value error, ")
        raise ProvidersInvalid(f"{path}: `{field}` of provider {number}: {said}") from error


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return (0, 0)
    return found.st_mtime_ns, found.st_size
