"""The transition table and the event union keep the promises the web and the driver build on."""

import hashlib
from typing import Any

import pytest
from pydantic import ValidationError

from worker.contracts.adapter_files import AdapterFile, listing_sha256
from worker.contracts.events import AdapterEvent, MetricsEvent, run_event_adapter
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.contracts.states import END_STATES, LEGAL_MOVES, RunState, is_legal


def test_every_state_has_its_moves_written_down() -> None:
    assert set(LEGAL_MOVES) == set(RunState)


def test_an_ended_run_stays_so_unless_a_stopped_one_is_queued_again() -> None:
    exits = {state: LEGAL_MOVES[state] for state in END_STATES if LEGAL_MOVES[state]}
    assert exits == {RunState.STOPPED: {RunState.QUEUED}}


def test_an_end_is_reachable_from_everywhere() -> None:
    for state in set(RunState) - END_STATES:
        reached, frontier = {state}, [state]
        while frontier:
            new = LEGAL_MOVES[frontier.pop()] - reached
            reached |= new
            frontier += new
        assert reached & END_STATES


def test_stopping_only_ends() -> None:
    assert LEGAL_MOVES[RunState.STOPPING] <= END_STATES
    assert not is_legal(RunState.STOPPING, RunState.RUNNING)


def test_an_event_is_read_back_as_its_own_type() -> None:
    event = MetricsEvent(seq=1, at=12.5, batch=3, optimizer_step=6, values={"policy/loss": 0.5})
    assert run_event_adapter.validate_json(event.model_dump_json()) == event


def test_a_metric_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValidationError, match="finite"):
        MetricsEvent(seq=1, at=0.0, batch=1, optimizer_step=1, values={"policy/loss": float("nan")})


def test_an_idle_span_needs_its_cause_and_others_must_not_have_one() -> None:
    with pytest.raises(ValidationError, match="`cause` must be given for idle spans"):
        Span(lane="rollout-0", kind=SpanKind.IDLE, start=0, end=1)
    with pytest.raises(ValidationError, match="only for them"):
        Span(lane="rollout-0", kind=SpanKind.TRAIN, start=0, end=1, cause=IdleCause.DRAIN)


def test_a_span_does_not_run_backwards() -> None:
    with pytest.raises(ValidationError, match="does not run backwards"):
        Span(lane="rollout-0", kind=SpanKind.TRAIN, start=2, end=1)


@pytest.mark.parametrize("times", [{"start": -1, "end": 1}, {"start": 1, "end": 1.7e12}, {"start": 1, "end": 1e300}])
def test_a_span_lies_where_a_clock_in_seconds_can_be(times: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="than or equal to"):
        Span(lane="rollout-0", kind=SpanKind.TRAIN, **times)


SHARDS = (
    AdapterFile(path="transformer/config.json", sha256="a" * 64, num_bytes=2),
    AdapterFile(path="transformer/1.safetensors", sha256="b" * 64, num_bytes=40),
)
LORA = AdapterFile(path="lora.safetensors", sha256="c" * 64, num_bytes=8)


def adapter_event(files: tuple[AdapterFile, ...], **changes: Any) -> AdapterEvent:
    body = {"seq": 1, "at": 0.0, "batch": 1, "policy_version": 1, "final": True, "files": files, "num_bytes": 42}
    return AdapterEvent(**{**body, "artifact": "adapters/v1", "sha256": listing_sha256(files), **changes})


def test_several_files_are_one_version_with_the_checksum_of_their_listing() -> None:
    listing = f"{'b' * 64}  transformer/1.safetensors\n{'a' * 64}  transformer/config.json\n"
    assert listing_sha256(SHARDS) == hashlib.sha256(listing.encode()).hexdigest()
    event = adapter_event(SHARDS)
    assert run_event_adapter.validate_json(event.model_dump_json()) == event


@pytest.mark.parametrize(
    ("files", "changes", "problem"),
    [
        ((), {}, "at least 1 item"),
        (SHARDS, {"num_bytes": 41}, "`num_bytes` must be 42"),
        (SHARDS, {"sha256": "d" * 64}, "`sha256` must be the one of `files`"),
        ((SHARDS[0], SHARDS[0]), {}, "each path once"),
        ((LORA,), {"num_bytes": 8, "sha256": LORA.sha256}, "must be named as `artifact` is"),
    ],
)
def test_files_that_do_not_add_up_are_refused(
    files: tuple[AdapterFile, ...], changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        adapter_event(files, **changes)


@pytest.mark.parametrize("path", ["../secret", "/etc/x", "a//b", "a/.hidden", ""])
def test_a_file_lies_within_its_folder(path: str) -> None:
    with pytest.raises(ValidationError, match="path"):
        AdapterFile(path=path, sha256="a" * 64, num_bytes=1)
