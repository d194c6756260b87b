"""Settings checked as Django system checks: each problem has an id and a hint that says what to do."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from fsspec import available_protocols

from accounts.sign_in.provider_file import LOOPBACK, ProvidersInvalid, read_providers
from accounts.sign_in.second_factor_policies import POLICIES
from retention.kinds import KINDS
from traces.switch import switch_problem

POSTGRES_ENGINES = ("django.db.backends.postgresql", "server.web_database")


def check_data_folder(**_: Any) -> list[CheckMessage]:
    """`TANDEM_VAR` can be created or written."""
    folder = settings.TANDEM_VAR
    existing = next(path for path in [folder, *folder.parents] if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"`TANDEM_VAR` must be a writable folder, got {folder}.",
            hint=f"Make {existing} writable for this user, or set TANDEM_VAR to a folder that is.",
            id="tandem.E001",
        )
    ]


def check_database(**_: Any) -> list[CheckMessage]:
    """The database is PostgreSQL."""
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine in POSTGRES_ENGINES:
        return []
    return [
        Error(
            f"`DATABASE_URL` must name a PostgreSQL server, got engine {engine}.",
            hint="Use postgres://user:password@host:5432/name, or leave it out for the embedded server.",
            id="tandem.E002",
        )
    ]


def check_redis(**_: Any) -> list[CheckMessage]:
    """The broker speaks the Redis protocol."""
    scheme = urlsplit(settings.REDIS_URL).scheme
    if scheme in {"redis", "rediss", "unix"}:
        return []
    return [
        Error(
            f"`REDIS_URL` must begin with redis://, rediss:// or unix://, got {scheme or 'no scheme'}.",
            hint="Use redis://host:6379/0, or leave it out for the embedded server.",
            id="tandem.E003",
        )
    ]


def check_addresses(**_: Any) -> list[CheckMessage]:
    """`TANDEM_PUBLIC_URL` and `RAY_ADDRESS` are http(s) addresses."""
    wanted = {
        "TANDEM_PUBLIC_URL": ("tandem.E004", "the address under which browsers and drivers reach this server"),
        "RAY_ADDRESS": ("tandem.E005", "the address of Ray's dashboard (Jobs API), such as http://head:8265"),
    }
    problems: list[CheckMessage] = []
    for name, (check_id, meaning) in wanted.items():
        parts = urlsplit(value := getattr(settings, name))
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            problems.append(
                Error(
                    f"`{name}` must begin with http:// or https://, got {value!r}.",
                    hint=f"Give {meaning}.",
                    id=check_id,
                )
            )
    return problems


def check_storage(**_: Any) -> list[CheckMessage]:
    """`TANDEM_ARTIFACTS` and `TANDEM_CHECKPOINTS` are URLs of a storage that fsspec knows."""
    known = set(available_protocols())
    return [
        Error(
            f"`{name}` must be a storage URL such as file:///data/{name.lower()} or s3://bucket/prefix, got {value!r}.",
            hint=f"Protocol {value.partition('://')[0]!r} is not one that fsspec knows.",
            id="tandem.E006",
        )
        for name in ("TANDEM_ARTIFACTS", "TANDEM_CHECKPOINTS")
        if "://" not in (value := getattr(settings, name)) or value.partition("://")[0] not in known
    ]


def check_port(**_: Any) -> list[CheckMessage]:
    """`TANDEM_PORT` is a port that an ordinary user may open."""
    if 1024 <= settings.TANDEM_PORT <= 65535:
        return []
    return [
        Error(
            f"`TANDEM_PORT` must be between 1024 and 65535, got {settings.TANDEM_PORT}.",
            hint="Put a web server in front to serve ports 80 and 443.",
            id="tandem.E007",
        )
    ]


def check_limits(**_: Any) -> list[CheckMessage]:
    """The limits of a pause, of a stop and of a token's requests are positive."""
    meanings = {
        "TANDEM_MAX_PAUSE_SECONDS": "How long a paused run keeps its lanes, in seconds",
        "TANDEM_MAX_STOP_SECONDS": "How long a stopped run may take over the batch under way, in seconds",
        "TANDEM_REQUESTS_PER_MINUTE": "How many requests an API token may send in a minute",
    }
    return [
        Error(
            f"`{name}` must be > 0, got {getattr(settings, name)}.",
            hint=f"{meaning}; leave it out for the default.",
            id="tandem.E009",
        )
        for name, meaning in meanings.items()
        if not getattr(settings, name) > 0
    ]


def check_retention(**_: Any) -> list[CheckMessage]:
    """Days for which data is kept are numbers from 0, and something is to be deleted where the worker is to delete."""
    days = {kind.setting: kind.days for kind in KINDS.values()}
    problems: list[CheckMessage] = [
        Error(f"`{name}` must be ≥ 0, got {value}.", hint="Days after a run's end; 0 is for good.", id="tandem.E016")
        for name, value in days.items()
        if value < 0
    ]
    if settings.TANDEM_RETENTION and not any(days.values()):
        hint = f"Set one of {', '.join(days)}, or switch it off."
        problems.append(
            Warning("`TANDEM_RETENTION` is on and everything is kept for good.", hint=hint, id="tandem.W003")
        )
    return problems


def check_second_factor(**_: Any) -> list[CheckMessage]:
    """`TANDEM_SECOND_FACTOR` is one of its values."""
    if settings.TANDEM_SECOND_FACTOR in POLICIES:
        return []
    return [
        Error(
            f"`TANDEM_SECOND_FACTOR` must be one of {', '.join(POLICIES)}, got {settings.TANDEM_SECOND_FACTOR!r}.",
            hint="Who must have a second factor to sign in by password; leave it out for nobody.",
            id="tandem.E010",
        )
    ]


def check_providers(**_: Any) -> list[CheckMessage]:
    """The file of the providers of OpenID Connect is whole, and names one at least where passwords open nothing."""
    path = settings.TANDEM_OIDC_PROVIDERS
    try:
        found = read_providers(Path(path)) if path else ()
    except ProvidersInvalid as error:
        hint = "deploy/docs/guides/sign_in.md shows such a file."
        return [Error(f"`TANDEM_OIDC_PROVIDERS`: {error}.", hint=hint, id="tandem.E012")]
    if found or not settings.TANDEM_OIDC_ONLY:
        return []
    hint = "Nobody could sign in: name a provider."
    return [Error("`TANDEM_OIDC_ONLY` needs `TANDEM_OIDC_PROVIDERS`.", hint=hint, id="tandem.E011")]


def check_model_roots(**_: Any) -> list[CheckMessage]:
    """Each of `TANDEM_MODEL_ROOTS` is a folder."""
    return [
        Warning(
            f"`TANDEM_MODEL_ROOTS` names {root}, which is not a folder.",
            hint="Create it, or take it out; base models are looked for only below these folders.",
            id="tandem.W001",
        )
        for root in settings.TANDEM_MODEL_ROOTS
        if not root.is_dir()
    ]


def check_https(**_: Any) -> list[CheckMessage]:
    """A server with a public address is reached over https."""
    parts = urlsplit(settings.TANDEM_PUBLIC_URL)
    if parts.scheme == "https" or parts.hostname in LOOPBACK:
        return []
    return [
        Warning(
            f"`TANDEM_PUBLIC_URL` is {settings.TANDEM_PUBLIC_URL}: passwords and cookies would travel unencrypted.",
            hint="Put a TLS proxy in front and give the https:// address.",
            id="tandem.W002",
        )
    ]


def check_debug(**_: Any) -> list[CheckMessage]:
    """`DEBUG` is used on this machine only."""
    if not settings.DEBUG or urlsplit(settings.TANDEM_PUBLIC_URL).hostname in LOOPBACK:
        return []
    return [
        Error(
            f"`DEBUG` must be off when `TANDEM_PUBLIC_URL` is {settings.TANDEM_PUBLIC_URL}: error pages show settings.",
            hint="Unset DEBUG.",
            id="tandem.E008",
        )
    ]


def check_traces(**_: Any) -> list[CheckMessage]:
    """OpenTelemetry's variables ask for what there is."""
    problem = switch_problem(os.environ)
    if not problem:
        return []
    return [Error(f"{problem}.", hint="deploy/docs/guides/traces.md says which variables are read.", id="tandem.E015")]


Check = Callable[..., Sequence[CheckMessage]]
ALL_CHECKS: tuple[Check, ...] = (
    check_data_folder,
    check_database,
    check_redis,
    check_addresses,
    check_storage,
    check_port,
    check_limits,
    check_retention,
    check_second_factor,
    check_providers,
    check_model_roots,
    check_https,
    check_debug,
    check_traces,
)


def register_all() -> None:
    for check in ALL_CHECKS:
        register(check, Tags.compatibility)
