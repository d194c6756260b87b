"""What a request holds, and when it is repeated: shared by both clients, and free of input and output."""

import os
import random
import uuid
from base64 import b64decode
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tandem.errors import NotSignedIn
from tandem.text_files import read_text

Spec: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""A run's spec: its document, YAML text, or the path of a YAML file (a `Path`, since a `str` is the text itself)."""

API = "/api/v1"
MAX_REPEATS = 4
"""With the waits below some 8 s: as long as a web server takes to start again."""
PATIENT_REPEATS = 24
"""With the waits below some ten minutes: what waits for hours also bears that a server is replaced."""
LONGEST_OWN_WAIT_SECONDS = 30.0
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 90.0
"""A token's rate limit is counted by the minute, so the server asks for at most 60 s."""
TOO_MANY_REQUESTS = 429
PARTIAL = 206
RANGE_NOT_SATISFIABLE = 416


def package_version() -> str:
    try:
        return version("tandem-client")
    except PackageNotFoundError:
        return "0+source"


def server_address(url: str) -> str:
    """`url` as an address to which paths are added.

    Raises:
        NotSignedIn: it is no address of a web server.
    """
    try:
        parts = urlsplit(url)
        has_host = parts.port != 0 and bool(parts.hostname)
    except ValueError as error:
        raise NotSignedIn(f"the server's address is none: {error}") from error
    if parts.scheme not in ("http", "https") or not has_host:
        raise NotSignedIn(f"the server's address must begin with http:// or https:// and name a host, got {url!r}")
    if parts.username is not None or parts.query or parts.fragment:
        # httpx would send the password in the token's place.
        raise NotSignedIn("the server's address must have no user name, no `?` and no `#`: the token alone signs in")
    return url.rstrip("/")


def is_exposed(address: str) -> bool:
    """Whether requests to a server leave this machine unencrypted."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


def sent_token(token: str) -> str:
    """The token as it is sent, without the spaces and line ends of pasting.

    Raises:
        NotSignedIn: no token has such characters, and the errors of what cannot be sent would show it.
    """
    pasted = token.strip()
    if not pasted or not pasted.isascii() or not pasted.isprintable() or " " in pasted:
        raise NotSignedIn("the token is empty or has characters that no token has: copy it anew")
    return pasted


def local_path(address: str) -> str:
    """Path and query of an address that an answer named. The token never goes to another host than the client's."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def inline_bytes(address: str) -> bytes | None:
    """The bytes that an address holds itself: the server sends small pictures as `data:` addresses."""
    return b64decode(address.partition(",")[2]) if address.startswith("data:") else None


def request_headers(method: str, token: str) -> dict[str, str]:
    """A POST gets an `Idempotency-Key`: the server does it once, however often it arrives."""
    headers = {"User-Agent": f"tandem-client/{package_version()}", "Authorization": f"Bearer {token}"}
    return headers | ({"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {})


def query_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that are given, as REST spells them."""
    return {name: _spelled(value) for name, value in values.items() if value is not None and value != ""}


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def spec_document(spec: Spec) -> Mapping[str, Any] | str:
    """The spec as a request holds it; the server reads YAML."""
    return spec if isinstance(spec, Mapping) else text_of(spec)


def text_of(source: str | os.PathLike[str]) -> str:
    """The text itself, or that of the file."""
    return read_text(source) if isinstance(source, os.PathLike) else source


def is_id(text: str) -> bool:
    """Whether it is an id, and not a name."""
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def goes_on(headers: Mapping[str, str]) -> bool:
    """Whether an answer that broke off can be read on from there: its `ETag` tells whether the rest is of the same
    bytes. Of a compressed one, other bytes are counted than are written."""
    return headers.get("Accept-Ranges") == "bytes" and "ETag" in headers and "Content-Encoding" not in headers


def is_rest(status: int, headers: Mapping[str, str], tag: str) -> bool:
    """Whether an answer is the rest of the bytes that had this `ETag`."""
    return status == PARTIAL and headers.get("ETag", "") == tag


def wait_before_repeat(
    method: str, repeats: int, status: int | None, retry_after: str | None, *, max_repeats: int = MAX_REPEATS
) -> float | None:
    """Seconds until a request that failed is sent again, or None if it is not.

    Args:
        method: GET and HEAD change nothing; a POST has its key. Others may have been done, and are not repeated, but
            where the server only asks to come later.
        repeats: how often it was repeated already.
        status: of the answer; None if there was none.
        retry_after: the answer's header `Retry-After`.
    """
    is_temporary = status is None or status == TOO_MANY_REQUESTS or status >= 500
    is_safe = method in ("GET", "HEAD", "POST") or status == TOO_MANY_REQUESTS
    if not is_safe or not is_temporary or repeats >= max_repeats:
        return None
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), LONGEST_WAIT_SECONDS)
    # Clients that failed together do not come back together.
    return min(FIRST_WAIT_SECONDS * 2**repeats, LONGEST_OWN_WAIT_SECONDS) * random.uniform(0.75, 1.25)
