"""Reads the environment once. Every variable of the web side is defined here, with its default.

Without `DATABASE_URL` or `REDIS_URL` the URLs point at the embedded servers of `TANDEM_VAR`, whether or not they
run at the moment: `manage.py up` starts exactly those servers whose URL is not given.
"""

import math
import os
import secrets
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

import environ

from server.embedded import folders
from server.errors import CannotStartError

ROOT = Path(__file__).resolve().parents[2]

env = environ.Env()

VAR = Path(env.str("TANDEM_VAR", "") or ROOT / "var").expanduser().absolute()
PORT = env.int("TANDEM_PORT", 8800)
HOST = env.str("TANDEM_HOST", "127.0.0.1")
PUBLIC_URL = (env.str("TANDEM_PUBLIC_URL", "") or f"http://127.0.0.1:{PORT}").rstrip("/")

RAY_HOST = env.str("TANDEM_RAY_HOST", "127.0.0.1")
"""Where the embedded Ray head listens for further nodes: this machine's address in their network, or only itself."""

MIN_OBJECT_STORE_GIB = 0.25
"""Ray refuses less than 75 MiB, and a run of the demo's size holds some 100."""


def object_store_bytes() -> int | None:
    """`TANDEM_OBJECT_STORE_GIB`, the shared memory of the embedded Ray head's objects (versions, trajectories, pictures
    on their way); `None` leaves it to Ray.

    Raises:
        CannotStartError: it is no number, or too small.
    """
    given = env.str("TANDEM_OBJECT_STORE_GIB", "")
    if not given:
        return None
    try:
        gib = float(given)
    except ValueError:
        gib = math.nan
    if not MIN_OBJECT_STORE_GIB <= gib < math.inf:
        raise CannotStartError(
            f"`TANDEM_OBJECT_STORE_GIB` must be ≥ {MIN_OBJECT_STORE_GIB}, got {given}: leave it empty for 30 % of the "
            "memory that is free"
        )
    return int(gib * 2**30)


HAS_OWN_DATABASE = bool(env.str("DATABASE_URL", ""))
HAS_OWN_REDIS = bool(env.str("REDIS_URL", ""))
HAS_OWN_RAY = bool(env.str("RAY_ADDRESS", ""))


def embedded_database_url(var: Path, database: str = "tandem") -> str:
    return f"postgres://tandem@/{database}?host={quote(str(folders.postgres_sockets(var)))}"


def embedded_redis_url(var: Path) -> str:
    return f"unix://{folders.valkey_socket(var)}"


def database_url() -> str:
    return env.str("DATABASE_URL", "") or embedded_database_url(VAR)


def redis_url() -> str:
    return env.str("REDIS_URL", "") or embedded_redis_url(VAR)


def celery_broker_url(url: str) -> str:
    """Celery spells a Redis socket `redis+socket://`; everybody else spells it `unix://`."""
    return "redis+socket://" + url.removeprefix("unix://") if url.startswith("unix://") else url


def model_roots() -> list[Path]:
    """Folders below which base models may lie, in order of search. Always ends with the shipped models."""
    given = [Path(part).expanduser() for part in env.str("TANDEM_MODEL_ROOTS", "").split(os.pathsep) if part]
    shipped = ROOT / "deploy" / "models"
    return [*given, *([] if shipped in given else [shipped])]


def allowed_hosts() -> list[str]:
    """`ALLOWED_HOSTS` (comma-separated), this machine's own names, and the public URL's host."""
    given = env.list("ALLOWED_HOSTS", default=[])
    return [*given, "localhost", "127.0.0.1", "[::1]", *filter(None, [urlsplit(PUBLIC_URL).hostname])]


def trusted_origins() -> list[str]:
    """`CSRF_TRUSTED_ORIGINS` (comma-separated) and the public URL's origin."""
    parts = urlsplit(PUBLIC_URL)
    return [*env.list("CSRF_TRUSTED_ORIGINS", default=[]), f"{parts.scheme}://{parts.netloc}"]


def secret_key() -> str:
    """`SECRET_KEY`, else the key kept under `TANDEM_VAR`, generated (0600) the first time.

    A data folder that cannot be written gives a key for this process only; the settings check says so.
    """
    given = env.str("SECRET_KEY", "")
    if given:
        return given
    path = VAR / "secret-key"
    try:
        return read_or_create_secret(path)
    except OSError:
        return secrets.token_urlsafe(50)


def read_or_create_secret(path: Path, num_bytes: int = 50) -> str:
    """The secret in `path`; generated there first, mode 0600, if the file is missing or empty.

    Safe when several processes start at once: one creates the file, whole, and the others read it.

    Raises:
        OSError: the folder cannot be written.
    """
    if path.exists() and (kept := path.read_text().strip()):
        return kept
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp's files are 0600 from the start, and nobody else writes the same one.
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    draft = Path(name)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(num_bytes))
    try:
        os.link(draft, path)
    except FileExistsError:
        if not path.read_text().strip():
            draft.replace(path)
            return path.read_text()
    draft.unlink(missing_ok=True)
    return path.read_text().strip()
