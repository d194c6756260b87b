"""Curves, timeline, bubbles: what pages read."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.report.report_lanes import lane_time
from runs.transitions import move
from telemetry import selectors
from telemetry.curves.curves import curves
from telemetry.models import SpanRow
from telemetry.timeline.bubbles import bubbles
from telemetry.timeline.timeline import MAX_MARKS, timeline
from telemetry.timeline.timeline_spans import TimelineSpan
from tests.scheduling.timeline import bubble_sums
from worker.contracts.spans import Span, SpanKind
from worker.contracts.states import RunState
from worker.scheduling.timeline.busy_share import busy_share, idle_share

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db


def test_few_points_are_exact(driver: Any, metrics: Make) -> None:
    driver.send(*(metrics(batch, batch, loss=float(batch)) for batch in range(1, 6)))
    answer = curves(driver.run_id)
    assert answer["stream_seq"] == 5
    loss = answer["series"]["loss"]
    assert loss["batch"] == [1, 2, 3, 4, 5]
    assert loss["value"] == loss["min"] == loss["max"] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_many_points_keep_their_extremes(driver: Any, metrics: Make) -> None:
    values = [0.0] * 400
    values[123], values[301] = 9.0, -7.0
    driver.send(*(metrics(batch, batch, loss=value) for batch, value in enumerate(values, start=1)))
    loss = curves(driver.run_id, keys=["loss"], max_points=20)["series"]["loss"]
    assert len(loss["value"]) == 20
    assert (max(loss["max"]), min(loss["min"])) == (9.0, -7.0)
    assert loss["batch"][-1] == 400


def test_only_the_keys_asked_for_are_drawn(driver: Any, metrics: Make) -> None:
    driver.send(metrics(1, 1, loss=1.0, policy__kl=2.0))
    assert set(curves(driver.run_id, keys=["policy/kl"])["series"]) == {"policy/kl"}


def test_superseded_points_are_not_drawn_twice(driver: Any, event: Make, metrics: Make, next_attempt: Any) -> None:
    driver.send(metrics(1, 1, loss=1.0), metrics(2, 2, loss=2.0))
    newer = next_attempt(driver.run, 2)
    newer.send(event(1, "resumed", batch=1, policy_version=1, optimizer_step=4), metrics(2, 2, loss=3.0))
    assert curves(driver.run_id)["series"]["loss"]["value"] == [1.0, 3.0]


def test_of_many_versions_and_queue_depths_every_nth_is_sent(driver: Any, event: Make) -> None:
    published_with = {"num_bytes": 1, "num_tensors": 1, "sha256": "0" * 64, "seconds": 0.1}
    published = [event(seq, "publish", **published_with, policy_version=seq) for seq in range(1, 2 * MAX_MARKS + 2)]
    driver.send(*published)
    whole = timeline(driver.run_id, now=0)["versions"]
    assert [one["policy_version"] for one in whole] == list(range(1, 2 * MAX_MARKS + 2, 3))
    at = published[1500]["at"]
    window = timeline(driver.run_id, now=0, start=at, end=at + 4)["versions"]
    assert [one["policy_version"] for one in window] == list(range(1501, 1506)), "all those of a narrow window"


def test_a_timeline_window_holds_the_spans_that_touch_it(driver: Any, event: Make, spans: Make) -> None:
    lane = {"lane": "rollout-0", "role": "rollout", "node": "n", "device": "cpu", "pid": 1, "uuids": [], "shares": None}
    algebra = driver.run.algebra
    driver.send(
        event(1, "lanes", lanes=[lane], algebra=algebra),
        spans(2, ("rollout-0", "generate", 10, 12), ("rollout-0", "decode", 12, 13), ("driver", "publish", 20, 21)),
        {**event(3, "publish", policy_version=1, num_bytes=1, num_tensors=1, sha256="0" * 64, seconds=1), "at": 20.5},
        {**event(4, "queues", batch=1, depths={"ready": 2}), "at": 12.5},
    )
    whole = timeline(driver.run_id, now=30.0)
    assert whole["lanes"] == [lane]
    assert [(span["lane"], span["kind"]) for span in whole["spans"]] == [
        ("rollout-0", "generate"),
        ("rollout-0", "decode"),
        ("driver", "publish"),
    ]
    assert whole["versions"] == [{"policy_version": 1, "at": 20.5}]
    assert whole["queues"] == [{"at": 12.5, "depths": {"ready": 2}}]
    window = timeline(driver.run_id, now=30.0, start=11.0, end=12.0)
    assert [span["kind"] for span in window["spans"]] == ["generate"]


def test_what_was_reported_after_the_last_span_is_on_the_timeline_too(driver: Any, event: Make, spans: Make) -> None:
    resize: dict[str, Any] = {
        "id": "r",
        "cause": "user",
        "state": "accepted",
        "reason": "",
        "lanes": [],
        "trainer_seconds": None,
    }
    plan = {
        "batch": 3,
        "reason": "training takes longer than planned",
        "pipeline": {},
        "fragment_size": 4,
        "lanes": {"rollout-0": "rollout"},
        **{"seconds_before": 12.0, "batch_seconds": 10.0, "bound_seconds": 9.0},
        **{"predicted_move_seconds": 6.0, "move_seconds": 7.0},
    }
    driver.send(
        spans(1, ("rollout-0", "generate", 10, 12)),
        {**event(2, "lanes", lanes=[], algebra=driver.run.algebra, resize=resize), "at": 11.0},
        {**event(3, "lanes", lanes=[], algebra=driver.run.algebra, resize={**resize, "state": "done"}), "at": 12.5},
        {**event(4, "plan", **plan), "at": 12.6},
        {**event(5, "publish", policy_version=1, num_bytes=1, num_tensors=1, sha256="0" * 64, seconds=1), "at": 12.7},
    )
    whole = timeline(driver.run_id, now=30.0)
    assert [(one["at"], one["resize"]["state"]) for one in whole["resizes"]] == [(12.5, "done")]
    assert whole["plans"] == [{"at": 12.6, "batch": 3, "reason": plan["reason"], "batch_seconds": 10.0}]
    assert whole["versions"] == [{"policy_version": 1, "at": 12.7}]
    assert timeline(driver.run_id, now=30.0, end=12.55)["plans"] == []


def test_a_span_is_read_as_it_was_reported(driver: Any, event: Make) -> None:
    """Every field of the contract, under its own name, by REST and by the socket alike."""
    reported = Span(
        lane="rollout-0",
        kind=SpanKind.GENERATE,
        start=1.0,
        end=2.0,
        batch=3,
        group=4,
        fragment=5,
        policy_version=2,
        num_samples=8,
        rank=1,
        num_units=8,
        for_run=driver.run_id,
    ).model_dump(mode="json")
    assert None not in {value for name, value in reported.items() if name != "cause"}
    driver.send(event(1, "spans", spans=[reported]))
    (read,) = timeline(driver.run_id, now=9.0)["spans"]
    assert json.loads(json.dumps(read, cls=DjangoJSONEncoder)) == {**reported, "num_spans": 1}
    (item,) = selectors.stream_items(driver.run_id, after_seq=0, limit=1)
    assert item["body"]["spans"] == [reported]


def test_every_field_of_a_span_is_stored() -> None:
    assert set(Span.model_fields) <= {field.name for field in SpanRow._meta.get_fields()}


def test_an_empty_timeline_is_no_error(driver: Any) -> None:
    empty = timeline(driver.run_id, now=30.0)
    assert (empty["lanes"], empty["spans"], empty["stream_seq"]) == ([], [], 0)
    assert bubbles(driver.run_id) == {
        "total_seconds": 0,
        "by_lane": {},
        "by_role": {},
        "by_class": {},
        "stream_seq": 0,
    }


def test_too_many_spans_are_merged_and_still_tile_their_lane(driver: Any, spans: Make) -> None:
    edges = [index * 0.01 for index in range(2001)]
    short = [
        ("a", "generate" if index % 3 else "decode", edges[index], edges[index + 1], None, 1, 0, 1, 2)
        for index in range(2000)
    ]
    long = [("a", "train", 20.0, 30.0), ("b", "score", 0.0, 30.0)]
    driver.send(spans(1, *short, *long))
    drawn = timeline(driver.run_id, now=0.0, limit=100)["spans"]
    assert len(drawn) <= 100
    lane_a = [TimelineSpan.model_validate(span) for span in drawn if span["lane"] == "a"]
    assert all(first.end == second.start for first, second in itertools.pairwise(lane_a))
    assert (lane_a[0].start, lane_a[-1].end) == (0.0, 30.0)
    *merged, last = lane_a
    assert (last.kind, last.num_spans) == (SpanKind.TRAIN, 1)
    assert {span.kind for span in merged} == {SpanKind.GENERATE}
    assert all(span.num_spans > 1 for span in merged)
    assert (sum(span.num_spans for span in merged), sum(span.num_samples for span in merged)) == (2000, 4000)
    assert {(span.batch, span.group, span.policy_version) for span in merged} == {(None, None, None)}


def test_bubbles_of_a_window_take_only_what_lies_in_it(driver: Any, spans: Make) -> None:
    driver.send(
        spans(1, ("rollout-0", "generate", 0, 4), ("rollout-0", "idle", 4, 8, "publish_wait")),
        spans(2, ("trainer-0", "train", 0, 5), ("trainer-0", "lent_generate", 5, 9)),
    )
    account = bubbles(driver.run_id, start=3.0, end=6.0)
    assert account["by_role"] == {
        "rollout": {"generate": 1.0, "idle:publish_wait": 2.0},
        "trainer": {"train": 2.0, "lent_generate": 1.0},
    }
    assert account["total_seconds"] == 6.0
    assert bubbles(driver.run_id, start=100.0)["total_seconds"] == 0


def test_the_account_of_a_run_grows_batch_by_batch_and_by_attempt(
    driver: Any, event: Make, spans: Make, next_attempt: Any
) -> None:
    driver.send(spans(1, ("rollout-0", "generate", 0, 4), ("rollout-0", "idle", 4, 5, "publish_wait")))
    driver.send(spans(2, ("rollout-0", "generate", 5, 8)))
    driver.send(spans(2, ("rollout-0", "generate", 5, 8)))
    next_attempt(driver.run, 2).send(spans(1, ("rollout-0", "generate", 100, 101)))
    account = bubbles(driver.run_id)
    assert account["by_lane"] == {"rollout-0": {"generate": 8.0, "idle:publish_wait": 1.0}}
    assert bubbles(driver.run_id, start=0.0) == account, "spans and their running total agree"


@given(lives=st.lists(st.lists(st.floats(0.01, 50), min_size=1, max_size=8), min_size=1, max_size=5), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_shares_sum_to_one_in_any_window_whatever_lanes_do(
    driver: Any, spans: Make, lives: list[list[float]], data: st.DataObject
) -> None:
    rows = []
    for number, durations in enumerate(lives):
        at = 0.0
        for seconds in durations:
            kind = data.draw(st.sampled_from(["generate", "train", "idle", "lent_generate"]))
            cause = ("no_fragment_ready",) if kind == "idle" else ()
            rows.append((f"rollout-{number}", kind, at, at + seconds, *cause))
            at += seconds
    start = data.draw(st.floats(0, 60))
    with transaction.atomic():
        driver.send(spans(1, *rows))
        account, whole = bubbles(driver.run_id, start=start, end=start + 20), bubbles(driver.run_id)
        transaction.set_rollback(True)
    assert whole["total_seconds"] == pytest.approx(sum(sum(life) for life in lives))
    lived = sum(max(0.0, min(sum(life), start + 20) - start) for life in lives)
    assert account["total_seconds"] == pytest.approx(lived, abs=1e-5)
    for parts in (*account["by_lane"].values(), *account["by_role"].values()):
        assert all(seconds >= 0 for seconds in parts.values())
    assert sum(s for parts in account["by_role"].values() for s in parts.values()) == pytest.approx(lived, abs=1e-5)


def test_bubbles_sum_to_the_whole_time_of_the_lanes(driver: Any, spans: Make) -> None:
    driver.send(
        spans(1, ("a", "generate", 0, 4), ("a", "idle", 4, 5, "publish_wait"), ("a", "pull", 6, 7)),
        spans(2, ("b", "train", 0, 10)),
    )
    account = bubbles(driver.run_id)
    assert account["by_lane"]["a"] == {"generate": 4.0, "idle:publish_wait": 1.0, "pull": 1.0, "unaccounted": 1.0}
    assert account["total_seconds"] == pytest.approx(17.0)
    assert sum(account["by_class"].values()) == pytest.approx(account["total_seconds"])


@pytest.mark.parametrize("window", [{}, {"start": 0.0}], ids=["running totals", "spans"])
def test_bubbles_are_summed_as_the_ledger_sums_them(driver: Any, event: Make, window: dict[str, float]) -> None:
    expected = json.loads(bubble_sums.PATH.read_text())
    driver.send(event(1, "spans", spans=expected["spans"]))
    account = bubbles(driver.run_id, **window)
    assert account["by_lane"] == expected["by_lane"]
    assert account["by_class"] == expected["by_class"]
    assert account["total_seconds"] == expected["total_seconds"]
    rollout = [classes for lane, classes in expected["by_lane"].items() if lane.startswith("rollout")]
    names = {name for classes in rollout for name in classes}
    assert account["by_role"]["rollout"] == {name: sum(classes.get(name, 0) for classes in rollout) for name in names}


def test_page_report_and_metric_have_one_busy_share(driver: Any, event: Make) -> None:
    """With pauses, a lent lane and a resize; the page's own share is held against the same file by its tests."""
    expected = json.loads(bubble_sums.PATH.read_text())
    driver.send(event(1, "spans", spans=expected["spans"]))
    classes = bubbles(driver.run_id)["by_class"]
    assert {"pause", "lent_generate", "idle:resize"} <= classes.keys()
    assert busy_share(classes) == expected["busy_share"]
    assert 1 - idle_share(classes) == pytest.approx(expected["busy_share"])
    assert lane_time(driver.run_id, now=0.0).busy_share == pytest.approx(expected["busy_share"])


def test_items_and_transitions_are_one_stream(driver: Any, event: Make) -> None:
    driver.send(event(1), event(2))
    move(driver.run_id, [RunState.RUNNING], RunState.PAUSED, reason="lunch", actor="alice")
    driver.send(event(3))
    types = [item["type"] for item in selectors.stream_items(driver.run_id, after_seq=1, limit=10)]
    assert types == ["log", "transition", "log"]
    newest = selectors.newest_items(driver.run_id, before_seq=None, limit=2)
    assert [item["stream_seq"] for item in newest] == [3, 4]
    only = selectors.stream_items(driver.run_id, after_seq=0, limit=10, types=["transition"])
    assert [item["body"]["new"] for item in only] == ["paused"]
