"""HTTP to the providers of OpenID Connect: to hosts that an administrator named as an issuer's, and to public ones.

A provider's discovery document says where its tokens and keys are; it must not lead the web into one's own network.
"""

import socket
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError

from accounts.sign_in.provider_file import providers
from worker.outbound.outbound_guard import connect

SETTING = "TANDEM_OIDC_PROVIDERS"
CONNECT_SECONDS = 5.0


def guarded(session: requests.Session) -> requests.Session:
    """The session, which follows no redirect and connects as the rule of outbound connections allows."""
    hosts = frozenset(host for each in providers() if (host := urlsplit(each.issuer).hostname))
    session.max_redirects = 0
    for scheme in ("http://", "https://"):
        session.mount(scheme, _GuardedAdapter(hosts))
    return session


class _GuardedAdapter(HTTPAdapter):
    def __init__(self, allowed_hosts: Collection[str]) -> None:
        self._allowed_hosts = allowed_hosts
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        allowed_hosts = self._allowed_hosts

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return _opened(self, allowed_hosts)

        class Encrypted(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return _opened(self, allowed_hosts)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}


def _opened(connection: HTTPConnection, allowed_hosts: Collection[str]) -> socket.socket:
    """urllib3's hook for the socket of a connection."""
    try:
        return connect(
            connection.host,
            connection.port or connection.default_port,
            allowed_hosts=allowed_hosts,
            setting=SETTING,
            timeout_seconds=CONNECT_SECONDS,
        )
    except OSError as error:
        raise NewConnectionError(connection, str(error)) from error
