"""The remote scorer against the repository's example server, in a process of its own."""

import http.server
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.reward.remote.conftest import LOCAL_ACCESS, PROMPT_DRIVEN_SCORER, TOKEN, local_access, start_server
from worker.contracts.names import RemoteFormat, RewardName
from worker.contracts.prompts import Prompt, parse_prompts
from worker.contracts.rewards import RemoteSettings, RewardSpec
from worker.engine.reward.base import RewardError, RewardResult
from worker.engine.reward.remote import RemoteReward, SecretMissingError, retry_after_seconds
from worker.engine.reward.reward_caller import RewardCaller
from worker.engine.reward.scorer import Scorer
from worker.engine.reward.wire import MAX_ERROR_CHARACTERS
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

PICTURES = np.array([10, 20, 30], dtype=np.uint8)[:, None, None, None] * np.ones((3, 8, 6, 3), dtype=np.uint8)
MEANS = (10.0, 20.0, 30.0)
either_format = pytest.mark.parametrize("form", list(RemoteFormat))


def spec(url: str, **fields: Any) -> RewardSpec:
    settings = {"url": url, "secret": "scorer", **fields.pop("settings", {})}
    return RewardSpec.model_validate({"name": "remote", "settings": settings, "timeout_seconds": 20, **fields})


def caller(url: str, **fields: Any) -> RewardCaller:
    reward_spec = spec(url, **fields)
    assert isinstance(reward_spec.settings, RemoteSettings)
    reward = RemoteReward(reward_spec.settings, local_access(), timeout_seconds=reward_spec.timeout_seconds)
    return RewardCaller(reward_spec, reward, sleep=lambda seconds: None)


def score(url: str, prompts: list[str], **fields: Any) -> RewardResult:
    return caller(url, **fields).score(PICTURES[: len(prompts)], parse_prompts(prompts)).result


@either_format
def test_pictures_arrive_unchanged(server_url: str, form: RemoteFormat) -> None:
    assert score(server_url, ["a", "b", "c"], settings={"format": form}).scores == MEANS


@either_format
def test_clips_arrive_whole(server_url: str, form: RemoteFormat) -> None:
    clips = np.repeat(PICTURES[:, None], 4, axis=1)
    result = caller(server_url, settings={"format": form}).score(clips, parse_prompts(["a", "b", "c"])).result
    assert result.scores == tuple(1000 + mean for mean in MEANS)


@either_format
def test_a_failed_sample_does_not_affect_the_others(server_url: str, form: RemoteFormat) -> None:
    result = score(server_url, ["a", "broken no face found", "c"], settings={"format": form})
    assert result.scores == (10.0, None, 30.0)
    assert result.errors[1] == "ValueError: no face found"


@either_format
def test_nan_is_a_failure_and_never_a_score(server_url: str, form: RemoteFormat) -> None:
    result = score(server_url, ["a", "nan", "c"], settings={"format": form})
    assert result.scores == (10.0, None, 30.0)
    assert "not finite" in str(result.errors[1])


@either_format
def test_prompts_and_errors_in_any_script_are_transferred_unchanged(server_url: str, form: RemoteFormat) -> None:
    texts = ["ein Bär & ein „Haus“", "猫とカフェ\n☕️", "\u202eعربي", "🧑🏽\u200d🚀", '{"score": 1}', "!", "x" * 1990]
    pictures = np.repeat(PICTURES[:1], len(texts), axis=0)
    outcome = caller(server_url, settings={"format": form}).score(
        pictures, parse_prompts([f"broken {text}" for text in texts])
    )
    assert outcome.result.errors == tuple(f"ValueError: {text}"[:MAX_ERROR_CHARACTERS] for text in texts)


def test_a_retryable_sample_is_retried_alone(server_url: str) -> None:
    outcome = caller(server_url).score(PICTURES, parse_prompts(["a", "flaky sample", "broken always"]))
    assert outcome.result.scores == (10.0, 20.0, None)
    assert outcome.num_retries == 1


def test_a_server_that_runs_out_of_memory_once_is_retried(server_url: str) -> None:
    outcome = caller(server_url).score(PICTURES[:1], parse_prompts(["full once"]))
    assert outcome.result.scores == (10.0,)
    assert outcome.num_retries == 1


def test_a_busy_server_is_retried_after_the_wait_that_it_requests(server_url: str, tmp_path: Path) -> None:
    flag, waits = tmp_path / "go", list[float]()
    reward_spec = spec(server_url, num_retries=3)
    assert isinstance(reward_spec.settings, RemoteSettings)
    reward = RemoteReward(reward_spec.settings, local_access(), timeout_seconds=20)

    def wait(seconds: float) -> None:
        waits.append(seconds)
        flag.touch()
        for thread in busy:
            thread.join(20)

    busy = [threading.Thread(target=score, args=(server_url, [f"until {flag}"])) for _ in range(2)]
    for thread in busy:
        thread.start()
    # Both requests are being processed once a third one is refused.
    probe = caller(server_url, num_retries=0)
    while probe.score(PICTURES[:1], parse_prompts(["a"])).result.scores[0] is not None:
        pass
    outcome = RewardCaller(reward_spec, reward, sleep=wait).score(PICTURES[:1], parse_prompts(["a"]))
    assert outcome.result.scores == (10.0,)
    assert waits == [1.0]


def test_a_slow_answer_is_a_time_out(server_url: str) -> None:
    result = score(server_url, ["slow 1.5"], timeout_seconds=0.3, num_retries=0)
    assert result.scores == (None,)
    assert "no answer" in str(result.errors[0]) or "timeout_seconds" in str(result.errors[0])


def test_an_unreachable_server_fails_every_sample_after_its_retries() -> None:
    outcome = caller("http://127.0.0.1:9/score", num_retries=2).score(PICTURES, parse_prompts(["a", "b", "c"]))
    assert outcome.num_retries == 2
    assert all("no answer from 127.0.0.1:9" in str(error) for error in outcome.result.errors)


def test_a_wrong_token_is_refused_and_not_retried(server_url: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = RemoteSettings(url=server_url, secret="scorer")
    reward = RemoteReward(settings, local_access("another-token"), timeout_seconds=20)
    with caplog.at_level(logging.DEBUG):
        outcome = RewardCaller(spec(server_url), reward).score(PICTURES[:1], parse_prompts(["a"]))
    assert outcome.num_retries == 0
    assert "status 401" in str(outcome.result.errors[0])
    assert "another-token" not in caplog.text + str(outcome)


def test_a_secret_that_the_run_was_not_given_is_refused_when_the_scorer_is_built() -> None:
    with pytest.raises(SecretMissingError, match="'scorer'"):
        Scorer([spec("http://127.0.0.1:9/score")], LOCAL_ACCESS)


def test_a_required_remote_reward_that_fails_raises_with_the_reason(server_url: str) -> None:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0)
    with pytest.raises(RewardError, match="'remote' failed on 2 of 2 samples; sample 0: ValueError: no face found"):
        Scorer([spec(server_url)], local_access()).score(fragment, Prompt(text="broken no face found"), PICTURES[:2])


def test_an_optional_remote_reward_that_fails_is_missing(server_url: str) -> None:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0)
    rewards = [RewardSpec(name=RewardName.COLORFULNESS), spec(server_url, required=False)]
    scored = Scorer(rewards, local_access()).score(fragment, Prompt(text="broken no face found"), PICTURES[:2])
    assert scored.parts["remote"] == (None, None)
    assert scored.unrewarded == {0, 1}


def test_redirects_are_not_followed_so_that_no_other_server_receives_the_token(server_url: str) -> None:
    class RedirectingServer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307)
            self.send_header("Location", server_url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), RedirectingServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = score(f"http://127.0.0.1:{server.server_address[1]}/", ["a"])
        server.shutdown()
    assert "status 307" in str(result.errors[0])


def test_the_example_server_runs_its_example_scorer_by_default() -> None:
    process, url = start_server()
    try:
        at_once, result = score(url, ["a", "b"]), score(url, ["a", " "])
    finally:
        process.terminate()
        process.wait(10)
    assert at_once.scores == (10 / 255, 20 / 255)
    # As a batch they cannot be scored, one by one the first can.
    assert result.scores == (10 / 255, None)
    assert "the prompt is empty" in str(result.errors[1])


def test_requests_over_the_servers_limit_are_queued_without_retries() -> None:
    """More lanes than the server handles at once must not end a run."""
    process, url = start_server("--scorer", str(PROMPT_DRIVEN_SCORER), "--max-requests", "1")
    try:
        with ThreadPoolExecutor(4) as lanes:
            results = list(lanes.map(lambda prompt: score(url, [prompt], num_retries=0), ["slow 0.2"] * 4))
    finally:
        process.terminate()
        process.wait(10)
    assert [result.scores for result in results] == [(10.0,)] * 4


def test_an_invalid_request_is_answered_with_an_error(server_url: str) -> None:
    def post(body: bytes, **headers: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
        return httpx.post(server_url, content=body, headers=headers)

    for body in (b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"version": 1}', b'{"version": 1, "samples": [3]}'):
        assert post(body).status_code == 400, body[:40]
    answer = post(b'{"version": 1, "samples": [{"prompt": "a", "image": "no picture"}, {}]}').json()
    assert [set(result) for result in answer["results"]] == [{"error", "retry"}] * 2


def test_retry_after_is_parsed_as_seconds_or_as_a_date() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after_seconds("7") == 7.0
    assert retry_after_seconds("Thu, 01 Jan 2026 12:00:30 GMT", now) == 30.0
    assert retry_after_seconds("Thu, 01 Jan 2026 11:00:00 GMT", now) == 0.0
    assert retry_after_seconds("soon") is None
    assert retry_after_seconds(None) is None


@given(st.text(max_size=40))
@example("0\x1f")
def test_a_retry_after_of_any_kind_is_a_wait_or_nothing(header: str) -> None:
    wait = retry_after_seconds(header)
    assert wait is None or wait >= 0


def test_a_scorer_of_batches_gets_a_fragment_at_once_and_a_broken_sample_spoils_no_other(tmp_path: Path) -> None:
    scorer = tmp_path / "batch_scorer.py"
    scorer.write_text(
        "def score_batch(samples, prompts, details):\n"
        "    if 'broken' in prompts:\n"
        "        raise ValueError('no such word')\n"
        "    return [sample.mean() + 1000 * len(samples) for sample in samples]\n"
    )
    process, url = start_server("--scorer", str(scorer))
    try:
        assert score(url, ["a", "a", "a"]).scores == (3010.0, 3020.0, 3030.0)
        result = score(url, ["a", "broken", "a"], num_retries=0)
        assert result.scores == (1010.0, None, 1030.0) and "no such word" in str(result.errors[1])
    finally:
        process.terminate()
        process.wait(10)
