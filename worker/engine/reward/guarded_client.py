"""The HTTP client of remote scorers, which connects as `worker.outbound` allows."""

import socket
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

from worker.contracts.scorer_access import SCORER_HOSTS_SETTING, ScorerAccess
from worker.outbound.outbound_guard import resolved


def guarded_client(access: ScorerAccess, **options: Any) -> httpx.Client:
    """A client that follows no redirect, and reaches public and allowed hosts alone: proxies of the environment are
    not used, since they would look names up themselves."""
    return httpx.Client(transport=_GuardedTransport(access.hosts), follow_redirects=False, **options)


class _GuardedTransport(httpx.HTTPTransport):
    def __init__(self, allowed_hosts: tuple[str, ...]) -> None:
        super().__init__()
        # httpx has no argument for it; its pool is httpcore's, which has.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=_GuardedBackend(allowed_hosts)
        )


class _GuardedBackend(httpcore.SyncBackend):
    """Connects to the addresses that were checked, so that no second look-up can answer with others."""

    def __init__(self, allowed_hosts: tuple[str, ...]) -> None:
        self._allowed_hosts = allowed_hosts

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Raises `AddressRefused`, and `httpcore.ConnectError` where nothing answers."""
        try:
            found = resolved(host, port, allowed_hosts=self._allowed_hosts, setting=SCORER_HOSTS_SETTING)
        except socket.gaierror as error:
            raise httpcore.ConnectError(f"{host} is not known: {error.strerror}") from error
        last: Exception = httpcore.ConnectError(f"{host} has no address")
        for *_, address in found:
            try:
                return super().connect_tcp(str(address[0]), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last
