"""Prompts of sample requests are encoded beside the lanes, those that come together by one process of each node."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import ray

from tests.engine.driving import bootstrap_answer
from tests.engine.models.family_checks import run_spec_of
from worker.contracts.names import ModelFamily
from worker.contracts.prompts import Prompt, parse_prompts
from worker.engine.control import request_encoder
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.control.request_encoder import RequestEncoder
from worker.engine.control.unplanned_limits import encoding_limit
from worker.engine.models.prompt_encoding import stored_embeddings
from worker.fixtures.tiny_models.tiny_pipelines import build_tiny_checkpoint
from worker.scheduling.planning.workload import Workload

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]
WAIT_SECONDS = 240.0


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "the node never encoded the prompts"
        time.sleep(0.05)


def slow_task(*_: object) -> None:
    time.sleep(600)


def test_a_request_waits_for_a_process_that_hangs_no_longer_than_its_texts_may_take(
    lanes: ClusterLanes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    spec = run_spec_of(ModelFamily.SD3, sampling={"guidance_scale": 4.0})
    answer = bootstrap_answer(spec, str(tmp_path), tmp_path / "checkpoints")
    encoder = RequestEncoder(answer, lanes, [], clock=lambda: now[0])
    monkeypatch.setattr(request_encoder, "_encode_here", slow_task)
    asked = [Prompt(text="something new")]
    limit = encoding_limit(Workload.of(spec), 1, from_hub=False)
    assert not encoder.is_done(asked)
    now[0] += limit - 1
    assert not encoder.is_done(asked)
    now[0] += 2
    assert encoder.is_done(asked), "its lanes encode it"
    assert f"within {limit:.0f} s" in caplog.text
    assert not encoder.is_done(asked), "what was given up is not known, so the next request asks again"


def test_requests_that_come_together_take_one_process_and_what_is_encoded_takes_none(
    lanes: ClusterLanes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(build_tiny_checkpoint(ModelFamily.SD3, tmp_path))
    spec = run_spec_of(ModelFamily.SD3, sampling={"guidance_scale": 4.0, "negative_prompt": "blurred"})
    own = parse_prompts([{"text": "a red square", "negative": "dark"}])
    encoder = RequestEncoder(bootstrap_answer(spec, path, tmp_path / "checkpoints"), lanes, own)
    processes = list[object]()
    begin = ray.remote

    def counted(**options: object) -> object:
        processes.append(options)
        return begin(**options)

    monkeypatch.setattr(ray, "remote", counted)
    first = (Prompt(text="something new"), Prompt(text="a red square", negative="dark"))
    second = (Prompt(text="and another", negative=""),)
    until(lambda: encoder.is_done([*first, *second]))
    stored = stored_embeddings(spec, path)
    # An empty negative prompt of its own is another one than the run's.
    assert all(stored.find(text) is not None for text in ("something new", "and another", ""))
    assert stored.find("dark") is None, "the run's own prompts were encoded before it began"
    assert encoder.is_done(second) and encoder.is_done(own) and len(processes) == 1
