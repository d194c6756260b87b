"""Tools that open connections of their own get no further than the platform itself would."""

import base64
import socket
import urllib.error
import urllib.request
from collections.abc import Collection

import pytest

from catalog.outbound_proxy import OWN_ANSWER, outbound_proxy
from mirrors.backends.reachable import PROXY_ANSWER, check_reachable
from tests.web.hooks.webhook_receiver import receiving

HERE = ["127.0.0.1"]


def post(url: str, proxy: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    with opener.open(urllib.request.Request(url, data=b"told", method="POST"), timeout=5) as answer:
        return int(answer.status)


def tunnel(target: str, proxy: str) -> tuple[socket.socket, bytes]:
    """A connection to the target through the proxy, and what the proxy answered first."""
    password, _, place = proxy.removeprefix("http://").rpartition("@")
    host, _, port = place.partition(":")
    opened = socket.create_connection((host, int(port)), timeout=5)
    basic = base64.b64encode(password.encode()).decode()
    opened.sendall(f"CONNECT {target} HTTP/1.1\r\nProxy-Authorization: Basic {basic}\r\n\r\n".encode())
    return opened, opened.recv(4096)


def refusal(url: str, allowed_hosts: Collection[str]) -> urllib.error.HTTPError:
    with (
        outbound_proxy(allowed_hosts=allowed_hosts, setting="HOSTS") as proxy,
        pytest.raises(urllib.error.HTTPError) as refused,
    ):
        post(url, proxy)
    return refused.value


def test_allowed_hosts_are_reached_in_plain_http_and_by_tunnel() -> None:
    with receiving() as receiver, outbound_proxy(allowed_hosts=HERE, setting="HOSTS") as proxy:
        assert post(f"{receiver.url}?a=1", proxy) == 204
        headers, body = receiver.taken[0]
        assert (body, headers["connection"]) == (b"told", "close")
        assert "proxy-authorization" not in headers
        target = receiver.url.split("/")[2]
        opened, answer = tunnel(target, proxy)
        with opened:
            assert b" 200 " in answer
            opened.sendall(f"POST / HTTP/1.0\r\nHost: {target}\r\nContent-Length: 2\r\n\r\nhi".encode())
            assert b" 204 " in opened.recv(4096)
    assert receiver.taken[1][1] == b"hi"


def test_other_private_hosts_are_refused_with_where_to_allow_them() -> None:
    with receiving() as receiver:
        refused = refusal(receiver.url, allowed_hosts=[])
        assert (refused.code, OWN_ANSWER in refused.headers) == (403, True)
        assert "127.0.0.1, which is not public" in refused.reason
        assert "`HOSTS`" in refused.reason
        with outbound_proxy(allowed_hosts=[], setting="HOSTS") as proxy:
            opened, answer = tunnel(receiver.url.split("/")[2], proxy)
            opened.close()
        assert b" 403 " in answer
    assert receiver.taken == []


def test_nobody_uses_it_without_its_password() -> None:
    with (
        receiving() as receiver,
        outbound_proxy(allowed_hosts=HERE, setting="HOSTS") as proxy,
        pytest.raises(urllib.error.HTTPError, match="407"),
    ):
        post(receiver.url, "http://" + proxy.rpartition("@")[2])
    assert receiver.taken == []


def test_a_tool_learns_why_its_server_is_not_reached() -> None:
    assert OWN_ANSWER == PROXY_ANSWER
    with receiving() as receiver, outbound_proxy(allowed_hosts=HERE, setting="HOSTS") as proxy:
        check_reachable(receiver.url, proxy)  # 501, since it takes no HEAD: an answer all the same
    with outbound_proxy(allowed_hosts=[], setting="HOSTS") as proxy:
        for address in ("http://127.0.0.1:9", "https://127.0.0.1:9"):
            with pytest.raises(ConnectionError, match="which is not public"):
                check_reachable(address, proxy)
