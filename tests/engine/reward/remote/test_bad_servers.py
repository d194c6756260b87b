"""Servers that die, dribble, flood or lie: every sample gets an error with a reason, after bounded tries."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest

from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.engine.reward import remote
from worker.engine.reward.base import ScorerUnavailableError
from worker.engine.reward.remote import RemoteAddressError, RemoteReward, SecretMissingError
from worker.engine.reward.reward_caller import CallOutcome, RewardCaller

PICTURES = np.zeros((2, 8, 8, 3), dtype=np.uint8)
GOOD = msgpack.packb({"version": 1, "results": [{"score": 0.5}, {"score": 0.25}]})


class MisbehavingServer(http.server.BaseHTTPRequestHandler):
    """Does what the path says, and counts."""

    seen: list[str] = []
    patience = threading.Event()
    """Set to let those that dribble go."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        word, _, detail = self.path[1:].partition("/")
        num_before = self.seen.count(self.path)
        self.seen.append(self.path)
        if word == "status":
            self.send_response(int(detail))
            self.send_header("Retry-After", "11")
            self.end_headers()
        elif word == "dies_once" and not num_before:
            self.close()
        elif word == "half":
            self.answer(b"", length=len(GOOD))
            self.wfile.write(GOOD[:10])
            self.close()
        elif word == "dribble":
            self.answer(b"", length=10_000)
            while not self.patience.wait(0.02):
                self.wfile.write(b" ")
        elif word == "flood":
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
        MisbehavingServer.patience.set()
        server.shutdown()


def outcome(address: str, waits: list[float] | None = None, timeout_seconds: float = 20.0) -> CallOutcome:
    settings = RemoteSettings(url=address)
    spec = RewardSpec.model_validate({"name": "remote", "settings": settings.model_dump(), "num_retries": 2})
    reward = RemoteReward(settings, {}, timeout_seconds=timeout_seconds)
    sleep = (lambda seconds: None) if waits is None else waits.append
    return RewardCaller(spec, reward, sleep=sleep).score(PICTURES, ["a", "b"])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again_after_as_long_as_the_server_says(url: str, status: int) -> None:
    waits: list[float] = []
    found = outcome(f"{url}/status/{status}", waits)
    assert found.num_retries == 2 and waits == [11.0, 11.0]
    assert all(f"answered with status {status}" in str(error) for error in found.result.errors)


@pytest.mark.parametrize("status", [201, 204, 301, 400, 401, 403, 404, 409, 413, 418, 422])
def test_what_will_not_pass_is_asked_once(url: str, status: int) -> None:
    found = outcome(f"{url}/status/{status}")
    assert found.num_retries == 0
    assert found.result.scores == (None, None)


def test_a_server_that_dies_once_is_asked_again(url: str) -> None:
    found = outcome(f"{url}/dies_once")
    assert found.num_retries == 1
    assert found.result.scores == (0.5, 0.25)


def test_half_an_answer_is_no_answer(url: str) -> None:
    found = outcome(f"{url}/half")
    assert found.num_retries == 2
    assert all("no answer from" in str(error) for error in found.result.errors)


def test_an_answer_that_comes_by_drops_is_given_up_within_its_time(url: str) -> None:
    """Each drop comes in time; all of them would not."""
    settings = RemoteSettings(url=f"{url}/dribble")
    with pytest.raises(ScorerUnavailableError, match=r"did not finish its answer within 0\.2 s") as caught:
        RemoteReward(settings, {}, timeout_seconds=0.2).score(PICTURES, ["a", "b"])
    assert caught.value.is_transient


def test_an_answer_without_end_is_cut_off(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER_BYTES", 4000)
    found = outcome(f"{url}/flood")
    assert found.num_retries == 0
    assert all("answered with more than 4000 bytes" in str(error) for error in found.result.errors)


@pytest.mark.parametrize("token", ["ab\ncd", "ab\r\nX-Injected: 1", "caf\u00e9", "a\x00b"])
def test_a_token_that_no_header_can_carry_is_refused_unseen(url: str, token: str) -> None:
    with pytest.raises(SecretMissingError, match="printable ASCII") as caught:
        RemoteReward(RemoteSettings(url=url, secret="scorer"), {"scorer": token}, timeout_seconds=5)
    assert token not in str(caught.value) and caught.value.__cause__ is None


def test_a_token_loses_the_line_end_it_was_pasted_with(url: str) -> None:
    reward = RemoteReward(RemoteSettings(url=url, secret="scorer"), {"scorer": "abc\n"}, timeout_seconds=5)
    assert reward.score(PICTURES, ["a", "b"]).scores == (0.5, 0.25)


def test_an_address_that_is_none_fails_before_the_run_begins() -> None:
    with pytest.raises(RemoteAddressError, match=r"`settings\.url` must be an address"):
        RemoteReward(RemoteSettings(url="http://xn--/score"), {}, timeout_seconds=5)
