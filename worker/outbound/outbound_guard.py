"""Which servers users may have Tandem connect to: public ones, and those that an administrator allows.

The web's webhooks and mirrors and the lanes' remote scorers follow this rule; each has a setting of hosts of its own.
Invariant: the address that is checked is the one that is connected to. A name is resolved once, here, so that it cannot
mean another machine a moment later; who uses the connection follows no redirect.
"""

import ipaddress
import socket
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "2002::/16", "2001::/32")))
"""IPv6 networks whose addresses stand for IPv4 ones, any of them: NAT64, 6to4, Teredo."""


class AddressRefused(OSError):
    """The host is not one that users may have Tandem connect to."""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to a machine in the Internet: not private, loopback, link-local, multicast,
    reserved, or one of a cloud's metadata services, which are link-local or private."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(str(found.ipv4_mapped))
        if found.is_site_local or any(found in network for network in _TRANSLATED):
            return False
    return found.is_global and not found.is_multicast


def url_problem(url: str, *, allowed_hosts: Collection[str], setting: str) -> str | None:
    """What is wrong with a URL before any name is resolved, as the end of a sentence; `None` for nothing."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        return "must be a URL of ASCII characters without spaces"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in ("http", "https") or not host:
        return "must begin with https:// and a host"
    if parts.username is not None or parts.password is not None:
        return "must hold no user name and no password"
    if is_allowed(host, allowed_hosts):
        return None
    if parts.scheme != "https":
        return f"must begin with https://; an administrator can allow {host} without it in `{setting}`"
    if (address := _address_in(host)) and not is_public(address):
        return f"must not lead to the private address {host}; an administrator can allow it in `{setting}`"
    return None


def resolved(host: str, port: int, *, allowed_hosts: Collection[str], setting: str) -> Sequence[AddressInfo]:
    """The addresses of a host, as `socket.getaddrinfo` gives them, to connect to these alone.

    Raises:
        AddressRefused: one of them is not public, and the host is not allowed.
        socket.gaierror: the name is unknown.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not is_allowed(host, allowed_hosts):
        for *_, address in found:
            if not is_public(str(address[0])):
                raise AddressRefused(
                    f"{host} leads to {address[0]}, which is not public: an administrator can allow it in `{setting}`"
                )
    return found


def connect(
    host: str, port: int, *, allowed_hosts: Collection[str], setting: str, timeout_seconds: float
) -> socket.socket:
    """A TCP connection to a host that is public or allowed.

    Raises:
        AddressRefused: one of its addresses is not public; nothing was sent.
        OSError: the name is unknown, or nothing answers.
    """
    deadline = time.monotonic() + timeout_seconds
    found = resolved(host, port, allowed_hosts=allowed_hosts, setting=setting)
    last: OSError = TimeoutError(f"{host} did not answer within {timeout_seconds:g} s")
    for family, kind, protocol, _, address in found:
        if (left := deadline - time.monotonic()) <= 0:
            break
        opened = socket.socket(family, kind, protocol)
        opened.settimeout(left)
        try:
            opened.connect(address)
        except OSError as error:
            opened.close()
            last = error
        else:
            return opened
    raise last


def is_allowed(host: str, allowed_hosts: Collection[str]) -> bool:
    """Whether an administrator named the host, in the very words of the URL."""
    return host.lower().rstrip(".") in {allowed.lower() for allowed in allowed_hosts}


def _address_in(host: str) -> str | None:
    """The address that a host is instead of a name, also in the shorter, octal and hexadecimal forms of IPv4."""
    with suppress(ValueError):
        return str(ipaddress.ip_address(host))
    with suppress(OSError):
        return socket.inet_ntoa(socket.inet_aton(host))
    return None
