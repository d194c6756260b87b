"""A remote scorer connects to no private machine on a spec's word, by whatever name it goes or will go."""

import http.server
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import RemoteSettings
from worker.contracts.scorer_access import ScorerAccess
from worker.engine.reward.base import ScorerUnavailableError
from worker.engine.reward.remote import RemoteAddressError, RemoteReward

PICTURES = np.zeros((1, 8, 8, 3), dtype=np.uint8)
PUBLIC = "93.184.216.34"
Resolver = Callable[[list[str]], list[str]]


class CountedConnections(http.server.BaseHTTPRequestHandler):
    num_connections = 0

    def setup(self) -> None:
        type(self).num_connections += 1
        super().setup()


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server on this machine, where nothing may arrive."""
    CountedConnections.num_connections = 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), CountedConnections) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
    assert CountedConnections.num_connections == 0


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    """Has names answered with these addresses in turn; gives the list of names that are asked for."""

    def answering(addresses: list[str]) -> list[str]:
        asked: list[str] = []
        real = socket.getaddrinfo

        def lookup(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                ipaddress.ip_address(host)
            except ValueError:
                asked.append(host)
                address = addresses[min(len(asked), len(addresses)) - 1]
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]
            return real(host, port, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        return asked

    return answering


def score(url: str, *hosts: str) -> None:
    reward = RemoteReward(RemoteSettings(url=url), ScorerAccess(hosts=hosts), timeout_seconds=0.5)
    reward.score(PICTURES, parse_prompts(["a"]))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:7f00:1]"]
)
def test_the_address_of_a_private_machine_is_refused_when_the_scorer_is_built(host: str) -> None:
    with pytest.raises(RemoteAddressError, match=r"`settings\.url` must not lead to the private .*TANDEM_SCORER_HOSTS"):
        score(f"https://{host}/score")


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0"])
def test_no_other_spelling_reaches_this_machine(port: int, host: str) -> None:
    with pytest.raises((ScorerUnavailableError, RemoteAddressError), match="TANDEM_SCORER_HOSTS") as caught:
        score(f"https://{host}:{port}/score")
    assert not getattr(caught.value, "is_transient", False)


def test_a_name_that_leads_to_a_private_machine_is_refused_before_anything_is_sent(
    port: int, resolver: Resolver
) -> None:
    resolver(["127.0.0.1"])
    with pytest.raises(ScorerUnavailableError, match=r"scorer\.example leads to 127\.0\.0\.1, which is not public"):
        score(f"https://scorer.example:{port}/score")


def test_a_name_that_means_another_machine_once_it_was_checked_leads_nowhere_else(
    port: int, resolver: Resolver
) -> None:
    asked = resolver([PUBLIC, "127.0.0.1"])
    with pytest.raises(ScorerUnavailableError, match="no answer"):
        score(f"https://scorer.example:{port}/score")
    assert asked == ["scorer.example"], "it is looked up once, and what was checked is connected to"


def test_a_proxy_of_the_environment_is_not_asked(
    port: int, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    resolver(["127.0.0.1"])
    with pytest.raises(ScorerUnavailableError, match="not public"):
        score("https://scorer.example/score")


def test_no_token_travels_without_tls_unless_the_host_is_allowed() -> None:
    with pytest.raises(RemoteAddressError, match="must begin with https://; an administrator can allow"):
        score("http://scorer.example/score")


def test_an_allowed_host_is_connected_to_wherever_it_is(resolver: Resolver) -> None:
    resolver(["127.0.0.1"])
    with pytest.raises(ScorerUnavailableError, match=r"no answer from scorer\.internal:9"):
        score("http://scorer.internal:9/score", "scorer.internal")
