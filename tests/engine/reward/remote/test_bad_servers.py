"""Servers that fail, answer too slowly, too much or wrongly: every sample gets an error, after bounded retries."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest

from tests.engine.reward.remote.conftest import LOCAL_ACCESS, local_access
from worker.contracts.prompts import parse_prompts
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.engine.reward import remote
from worker.engine.reward.base import ScorerUnavailableError
from worker.engine.reward.remote import RemoteAddressError, RemoteReward, SecretMissingError
from worker.engine.reward.reward_caller import CallOutcome, RewardCaller

PICTURES = np.zeros((2, 8, 8, 3), dtype=np.uint8)
GOOD = msgpack.packb({"version": 1, "results": [{"score": 0.5}, {"score": 0.25}]})


class MisbehavingServer(http.server.BaseHTTPRequestHandler):
    """Misbehaves as the path says, and counts its requests."""

    paths: list[str] = []
    """The path of each request."""
    is_ending = threading.Event()
    """Set at the end, to stop slow answers."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        word, _, detail = self.path[1:].partition("/")
        num_before = self.paths.count(self.path)
        self.paths.append(self.path)
        if word == "status":
            self.send_response(int(detail))
            self.send_header("Retry-After", "11")
            self.end_headers()
        elif word == "closes_once" and not num_before:
            self.close()
        elif word == "truncated":
            self.answer(b"", length=len(GOOD))
            self.wfile.write(GOOD[:10])
            self.close()
        elif word == "byte_by_byte":
            self.answer(b"", length=10_000)
            while not self.is_ending.wait(0.02):
                self.wfile.write(b" ")
        elif word == "too_large":
            self.answer(b" " * 5000)
        else:
            self.answer(GOOD)

    def answer(self, body: bytes, length: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def close(self) -> None:
        self.wfile.flush()
        self.connection.shutdown(2)
        self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), MisbehavingServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        MisbehavingServer.is_ending.set()
        server.shutdown()


def outcome(address: str, waits: list[float] | None = None, timeout_seconds: float = 20.0) -> CallOutcome:
    settings = RemoteSettings(url=address)
    spec = RewardSpec.model_validate({"name": "remote", "settings": settings.model_dump(), "num_retries": 2})
    reward = RemoteReward(settings, LOCAL_ACCESS, timeout_seconds=timeout_seconds)
    sleep = (lambda seconds: None) if waits is None else waits.append
    return RewardCaller(spec, reward, sleep=sleep).score(PICTURES, parse_prompts(["a", "b"]))


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_transient_failures_are_retried_after_the_wait_that_the_server_requests(url: str, status: int) -> None:
    waits: list[float] = []
    found = outcome(f"{url}/status/{status}", waits)
    assert found.num_retries == 2 and waits == [11.0, 11.0]
    assert all(f"answered with status {status}" in str(error) for error in found.result.errors)


@pytest.mark.parametrize("status", [201, 204, 301, 400, 401, 403, 404, 409, 413, 418, 422])
def test_permanent_failures_are_not_retried(url: str, status: int) -> None:
    found = outcome(f"{url}/status/{status}")
    assert found.num_retries == 0
    assert found.result.scores == (None, None)


def test_a_connection_that_is_closed_once_is_retried(url: str) -> None:
    found = outcome(f"{url}/closes_once")
    assert found.num_retries == 1
    assert found.result.scores == (0.5, 0.25)


def test_an_incomplete_answer_is_retried_and_then_an_error(url: str) -> None:
    found = outcome(f"{url}/truncated")
    assert found.num_retries == 2
    assert all("no answer from" in str(error) for error in found.result.errors)


def test_an_answer_that_arrives_byte_by_byte_is_given_up_after_the_time_out(url: str) -> None:
    """Each byte arrives within the time-out; the whole answer would not."""
    settings = RemoteSettings(url=f"{url}/byte_by_byte")
    with pytest.raises(ScorerUnavailableError, match=r"did not finish its answer within 0\.2 s") as caught:
        RemoteReward(settings, LOCAL_ACCESS, timeout_seconds=0.2).score(PICTURES, parse_prompts(["a", "b"]))
    assert caught.value.is_transient


def test_an_answer_that_is_too_large_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER_BYTES", 4000)
    found = outcome(f"{url}/too_large")
    assert found.num_retries == 0
    assert all("answered with more than 4000 bytes" in str(error) for error in found.result.errors)


@pytest.mark.parametrize("token", ["ab\ncd", "ab\r\nX-Injected: 1", "caf\u00e9", "a\x00b"])
def test_a_token_that_headers_do_not_allow_is_refused_without_quoting_it(url: str, token: str) -> None:
    with pytest.raises(SecretMissingError, match="printable ASCII") as caught:
        RemoteReward(RemoteSettings(url=url, secret="scorer"), local_access(token), timeout_seconds=5)
    assert token not in str(caught.value) and caught.value.__cause__ is None


def test_a_tokens_trailing_newline_is_removed(url: str) -> None:
    reward = RemoteReward(RemoteSettings(url=url, secret="scorer"), local_access("abc\n"), timeout_seconds=5)
    assert reward.score(PICTURES, parse_prompts(["a", "b"])).scores == (0.5, 0.25)


def test_an_invalid_address_is_refused_when_the_reward_is_built() -> None:
    with pytest.raises(RemoteAddressError, match=r"`settings\.url` must be an address"):
        RemoteReward(RemoteSettings(url="https://xn--/score"), LOCAL_ACCESS, timeout_seconds=5)
