"""Answers that break the protocol are refused as a whole, with what is wrong."""

import json
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.names import RemoteFormat
from worker.engine.reward.base import ScorerUnavailableError
from worker.engine.reward.wire import decode_answer, encode_request

either_format = pytest.mark.parametrize("form", list(RemoteFormat))


def packed(document: Any, form: RemoteFormat) -> bytes:
    return json.dumps(document).encode() if form is RemoteFormat.JSON else msgpack.packb(document)


@either_format
@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "must be an object"),
        ({"results": [{"score": 1}]}, "`version` must be 1, got None"),
        ({"version": 2, "results": [{"score": 1}]}, "`version` must be 1, got 2"),
        ({"version": 1}, "must be a list of 1"),
        ({"version": 1, "results": [{"score": 1}, {"score": 2}]}, "got 2 results"),
        ({"version": 1, "results": [{}]}, "either `score` or `error`"),
        ({"version": 1, "results": [{"score": 1, "error": "x"}]}, "either `score` or `error`"),
        ({"version": 1, "results": [{"score": "0.7"}]}, "`results[0].score` must be a number"),
        ({"version": 1, "results": [{"score": None}]}, "`results[0].score` must be a number"),
        ({"version": 1, "results": [{"score": True}]}, "`results[0].score` must be a number"),
    ],
)
def test_a_wrong_answer_is_refused_and_not_asked_for_again(form: RemoteFormat, document: Any, why: str) -> None:
    with pytest.raises(ScorerUnavailableError) as caught:
        decode_answer(packed(document, form), form, 1)
    assert why in str(caught.value)
    assert not caught.value.is_transient


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400])
def test_numbers_that_no_score_can_hold_are_that_samples_error(number: str) -> None:
    body = f'{{"version": 1, "results": [{{"score": {number}}}, {{"score": 2}}]}}'.encode()
    result = decode_answer(body, RemoteFormat.JSON, 2)
    assert result.scores == (None, 2.0)
    assert "not finite" in str(result.errors[0])


json_like = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["score", "error", "retry"]), inner),
    max_leaves=8,
)


@either_format
@given(results=st.lists(json_like, max_size=3))
def test_any_answer_gives_one_score_or_error_each_or_is_refused(form: RemoteFormat, results: list[Any]) -> None:
    try:
        found = decode_answer(packed({"version": 1, "results": results}, form), form, len(results))
    except ScorerUnavailableError as refused:
        assert not refused.is_transient
    else:
        assert len(found.scores) == len(results)
        for result, score in zip(results, found.scores, strict=True):
            assert score is None or score == float(result["score"])


@either_format
@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_refused_and_nothing_else(form: RemoteFormat, body: bytes) -> None:
    with pytest.raises(ScorerUnavailableError):
        decode_answer(body, form, 1)


@either_format
def test_errors_say_whether_they_may_pass(form: RemoteFormat) -> None:
    results = [{"score": 0.5}, {"error": "busy", "retry": True}, {"error": "no face"}, {"error": ""}, {"error": None}]
    result = decode_answer(packed({"version": 1, "results": results}, form), form, 5)
    assert result.scores == (0.5, None, None, None, None)
    assert result.errors == (None, "busy", "no face", *["the scorer gave no reason"] * 2)
    assert result.retryable == {1}


@either_format
def test_only_a_true_asks_for_another_try(form: RemoteFormat) -> None:
    results = [{"error": "busy", "retry": retry} for retry in (True, False, None, "false", "yes", 1)]
    assert decode_answer(packed({"version": 1, "results": results}, form), form, 6).retryable == {0}


def test_requests_name_version_scorer_and_samples() -> None:
    pictures = np.zeros((2, 8, 8, 3), dtype=np.uint8)
    body = encode_request(pictures, ["a", "b"], scorer="faces", request_id="1", form=RemoteFormat.JSON)
    document = json.loads(body)
    assert document["version"] == 1
    assert document["scorer"] == "faces"
    assert [sample["prompt"] for sample in document["samples"]] == ["a", "b"]
    assert all(set(sample) == {"prompt", "image"} for sample in document["samples"])
