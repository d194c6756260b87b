"""The web connects to no machine in private networks on a user's word, by whatever name it goes."""

import socket
from typing import Any

import pytest

from accounts.models import Project, User
from hooks.http_posts import post
from hooks.models import Delivery
from hooks.sending import send_due
from hooks.services import send_test
from tests.web.hooks.conftest import MakeWebhook
from tests.web.hooks.webhook_receiver import Receiver
from worker.outbound.outbound_guard import AddressRefused, connect, is_public, url_problem

PRIVATE = [
    *("127.0.0.1", "10.0.0.7", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::"),
]
"""Private, loopback, link-local and metadata addresses, shared ones, and IPv6 that stands for IPv4."""


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_known_as_such(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_known_as_such(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "0", "::1"])
def test_no_spelling_of_this_machine_is_connected_to(receiver: Receiver, host: str) -> None:
    port = int(receiver.url.rpartition(":")[2].partition("/")[0])
    with pytest.raises(AddressRefused, match="not public"):
        connect(host, port, allowed_hosts=(), setting="HOSTS", timeout_seconds=2)


@pytest.mark.parametrize("address", [*PRIVATE[:6], "::1", "fd00:ec2::254"])
def test_a_name_that_leads_to_a_private_address_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, settings: Any, address: str
) -> None:
    settings.TANDEM_WEBHOOK_HOSTS = []
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("1.1.1.1", 443)),
        (family, socket.SOCK_STREAM, 6, "", (address, 443)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    outcome = post("https://innocent.example/hook", b"{}", {})
    assert (outcome.is_delivered, outcome.status) == (False, None)
    assert f"innocent.example leads to {address}" in outcome.answer
    assert "TANDEM_WEBHOOK_HOSTS" in outcome.answer


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org", "begin with https"),
        ("https://", "begin with https"),
        ("http://example.org", "begin with https"),
        ("https://user:word@example.org", "no user name"),
        ("https://example.org:99999", "not a URL"),
        ("https://exa mple.org", "without spaces"),
        ("https://169.254.169.254/latest", "private address 169.254.169.254"),
        ("https://[::1]:8800/", "private address ::1"),
        ("https://2130706433/", "private address 2130706433"),
        ("https://0x7f.1:8800/", "private address 0x7f.1"),
        ("https://0177.0.0.1/", "private address 0177.0.0.1"),
    ],
)
def test_what_is_wrong_with_a_url_is_said_before_it_is_kept(url: str, said: str) -> None:
    assert said in (url_problem(url, allowed_hosts=(), setting="HOSTS") or "nothing")


def test_public_https_and_allowed_hosts_are_taken() -> None:
    assert url_problem("https://hooks.slack.com/services/T0/B0/x", allowed_hosts=(), setting="HOSTS") is None
    assert url_problem("http://chat.internal:8065/h", allowed_hosts=("Chat.internal",), setting="HOSTS") is None
    assert url_problem("http://sub.chat.internal/h", allowed_hosts=("chat.internal",), setting="HOSTS") is not None


@pytest.mark.django_db
def test_a_host_that_is_allowed_no_more_is_sent_nothing(
    make_webhook: MakeWebhook, receiver: Receiver, alice: User, project: Project, settings: Any
) -> None:
    webhook, _ = make_webhook()
    settings.TANDEM_WEBHOOK_HOSTS = []
    send_test(user=alice, webhook=webhook)
    send_due()
    assert receiver.taken == []
    assert "not public" in Delivery.objects.get().tries.get().answer
