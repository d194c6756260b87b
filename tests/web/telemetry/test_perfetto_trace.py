"""The file for Perfetto holds every span: its lane, name, begin and length, and the lengths sum to the lane time."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.perfetto_trace import perfetto_trace
from tests.scheduling.timeline import bubble_sums

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db


def events_of(packed: bytes) -> list[dict[str, Any]]:
    """The events as Perfetto reads them: one JSON document, gzipped."""
    return list(json.loads(gzip.decompress(packed))["traceEvents"])


def names(events: list[dict[str, Any]], what: str, of: str) -> dict[int, str]:
    return {event[of]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == what}


def test_the_trace_holds_every_span_of_the_run_on_its_lane(driver: Any, event: Make) -> None:
    reported = json.loads(bubble_sums.PATH.read_text())["spans"]
    driver.send(event(1, "spans", spans=reported))
    events = events_of(perfetto_trace(driver.run_id))
    lanes = names(events, "thread_name", "tid")
    origin = min(span["start"] for span in reported)
    read = [(lanes[one["tid"]], one["name"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]
    expected = [
        (
            span["lane"],
            f"idle: {span['cause']}" if span.get("cause") else span["kind"],
            pytest.approx((span["start"] - origin) * 1e6, abs=1e-3),
            pytest.approx((span["end"] - span["start"]) * 1e6, abs=2e-3),
        )
        for span in reported
    ]
    assert len(read) == len(expected) > 0
    assert sorted(read) == sorted(expected, key=lambda one: (one[0], one[1], one[2].expected))
    total = sum(one["dur"] for one in events if one["ph"] == "X") / 1e6
    account = bubbles(driver.run_id)
    assert total == pytest.approx(account["total_seconds"] - account["by_class"].get("unaccounted", 0.0))


def test_spans_that_meet_in_the_run_meet_in_the_trace(driver: Any, spans: Make) -> None:
    edges = [1.7e9 + index / 3 for index in range(50)]
    driver.send(spans(1, *(("rollout-0", "generate", *edges[index : index + 2]) for index in range(49))))
    drawn = sorted((one["ts"], one["dur"]) for one in events_of(perfetto_trace(driver.run_id)) if one["ph"] == "X")
    ends = [round((start + length) * 1000) for start, length in drawn]
    assert ends[:-1] == [round(start * 1000) for start, _ in drawn[1:]]


def test_roles_are_processes_and_spans_say_what_they_worked_on(driver: Any, event: Make, spans: Make) -> None:
    driver.send(
        spans(1, ("rollout-0", "generate", 10, 12, None, 3, 1, 2, 8), ("trainer-0", "train", 12, 13)),
        {**event(2, "publish", policy_version=4, num_bytes=1, num_tensors=1, sha256="0" * 64, seconds=1), "at": 12.5},
        {**event(3, "queues", batch=1, depths={"ready": 2}), "at": 11.0},
    )
    events = events_of(perfetto_trace(driver.run_id))
    processes = names(events, "process_name", "pid")
    (generate,) = [one for one in events if one.get("cat") == "generate"]
    assert processes[generate["pid"]] == "rollout"
    assert {"batch": 3, "group": 1, "policy_version": 2, "num_samples": 8}.items() <= generate["args"].items()
    (version,) = [one for one in events if one["ph"] == "i"]
    (depths,) = [one for one in events if one["ph"] == "C"]
    assert (version["name"], version["ts"], depths["args"], depths["ts"]) == ("v4", 2.5e6, {"ready": 2}, 1e6)


def test_a_window_of_the_trace_holds_the_spans_that_touch_it(driver: Any, spans: Make) -> None:
    driver.send(spans(1, *(("rollout-0", "generate", index, index + 1) for index in range(10))))
    window = events_of(perfetto_trace(driver.run_id, start=3.5, end=5.0))
    assert sorted(one["ts"] for one in window if one["ph"] == "X") == [3e6, 4e6]
    assert [one["ph"] for one in events_of(perfetto_trace(driver.run_id, start=100.0))] == ["M"]
