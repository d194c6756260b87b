"""Ingest: exactly once, in order, whole batches, fenced."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.attempts.tokens import AttemptGone, TokenRefused
from runs.models import PendingCommand, Run, RunLogEntry, RunStream
from telemetry.ingest.ingest_errors import InvalidEvent, SequenceGap
from telemetry.models import AttemptStream, MetricPoint, SpanRow
from tests.slow_params import examples

pytestmark = pytest.mark.django_db
Make = Callable[..., dict[str, Any]]


def test_events_are_stored_in_order_and_exploded(driver: Any, event: Make, metrics: Make, spans: Make) -> None:
    answer = driver.send(
        event(1),
        metrics(2, 1, reward__mean=0.5, policy__kl=0.1),
        spans(3, ("rollout-0", "generate", 10.0, 12.0), ("rollout-0", "idle", 12.0, 13.0, "publish_wait")),
    )
    assert answer.acknowledged == 3
    items = driver.items
    assert [(item["stream_seq"], item["type"]) for item in items] == [(1, "log"), (2, "metrics"), (3, "spans")]
    assert items[0]["body"] == {"level": "info", "source": "driver", "message": "line 1"}
    points = MetricPoint.objects.order_by("key").values_list("key", "batch", "optimizer_step", "value", "stream_seq")
    assert list(points) == [("policy/kl", 1, 4, 0.1, 2), ("reward/mean", 1, 4, 0.5, 2)]
    rows = SpanRow.objects.order_by("start").values_list("kind", "cause", "start", "end", "stream_seq")
    assert list(rows) == [("generate", None, 10.0, 12.0, 3), ("idle", "publish_wait", 12.0, 13.0, 3)]


def test_a_repeat_is_acknowledged_and_stored_once(driver: Any, event: Make) -> None:
    driver.send(event(1), event(2))
    answer = driver.send(event(1), event(2), event(3))
    assert answer.acknowledged == 3
    assert len(driver.items) == 3


def test_a_gap_is_refused_naming_the_number_expected(driver: Any, event: Make) -> None:
    driver.send(event(1))
    with pytest.raises(SequenceGap, match="go on with 2, got 4") as refused:
        driver.send(event(4))
    assert refused.value.expected == 2
    assert len(driver.items) == 1


def test_a_gap_inside_a_batch_stores_nothing_of_it(driver: Any, event: Make) -> None:
    with pytest.raises(SequenceGap):
        driver.send(event(1), event(3))
    assert driver.items == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "metrics", "batch": 1, "optimizer_step": 1, "values": {"loss": float("nan")}}, "values.loss"),
        ({"type": "metrics", "batch": -1, "optimizer_step": 1, "values": {}}, "batch"),
        ({"type": "log", "level": "loud", "source": "driver", "message": "x"}, "level"),
        ({"type": "spans", "spans": [{"lane": "a", "kind": "idle", "start": 1, "end": 2}]}, "spans.0"),
        ({"type": "log", "level": "info", "source": "driver", "message": "x", "colour": 1}, "colour"),
        ({"type": "unheard_of"}, "event"),
    ],
)
def test_one_invalid_event_refuses_the_batch_by_number_and_field(
    driver: Any, event: Make, body: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidEvent, match="nothing of this batch was stored") as refused:
        driver.send(event(1), {"seq": 2, "at": 1.0, **body})
    assert (refused.value.seq, refused.value.field) == (2, field)
    assert driver.items == []


def test_a_wrong_token_and_an_unknown_run_are_refused_alike(driver: Any, event: Make, make_run: Any) -> None:
    for stranger in (dataclasses.replace(driver, token="guess"), dataclasses.replace(driver, run=make_run())):
        with pytest.raises(TokenRefused):
            stranger.send(event(1))
    assert driver.items == []


def test_an_older_attempt_is_fenced_off_and_the_newer_one_counts_from_one(
    driver: Any, event: Make, next_attempt: Any
) -> None:
    driver.send(event(1))
    newer = next_attempt(driver.run, 2)
    with pytest.raises(AttemptGone):
        driver.send(event(2))
    assert newer.send(event(1)).acknowledged == 1
    assert [(item["attempt"], item["stream_seq"]) for item in driver.items] == [(1, 1), (2, 2)]


def test_a_driver_whose_last_answer_was_lost_is_acknowledged_again(driver: Any, event: Make) -> None:
    last = [event(1), event(2, "state", state="completed")]
    assert driver.send(*last).acknowledged == 2
    assert driver.send(*last).acknowledged == 2
    for late in ([], [event(3)]):
        with pytest.raises(AttemptGone):
            driver.send(*late)


def test_an_empty_batch_is_a_heartbeat(driver: Any) -> None:
    assert driver.send().acknowledged == 0
    assert Run.objects.get().last_heartbeat_at is not None


def test_answers_carry_commands_until_they_are_done(driver: Any, event: Make) -> None:
    command = PendingCommand.objects.create(run=driver.run, kind="pause")
    assert [one.id for one in driver.send().commands] == [str(command.pk)]
    assert [one.id for one in driver.send(event(1)).commands] == [str(command.pk)]
    answer = driver.send(event(2, "command_done", command_id=str(command.pk), accepted=True))
    assert answer.commands == ()


def test_the_run_follows_what_its_driver_reports(driver: Any, event: Make, metrics: Make) -> None:
    driver.send(
        event(1, "phase", phase="train"),
        metrics(2, 1, reward__mean=0.1),
        metrics(3, 3, reward__mean=0.2),
        event(4, "publish", policy_version=2, num_bytes=9, num_tensors=1, sha256="0" * 64, seconds=0.1),
    )
    run = Run.objects.get()
    assert (run.phase, run.num_batches_done, run.policy_version) == ("train", 2, 2)


def test_a_transition_takes_the_number_after_its_event(driver: Any, event: Make) -> None:
    driver.send(event(1, "state", state="paused"), event(2))
    assert [(item["stream_seq"], item["type"]) for item in driver.items] == [
        (1, "state"),
        (2, "log"),
        (3, "transition"),
    ]


def test_points_beyond_the_resume_point_are_superseded(
    driver: Any, event: Make, metrics: Make, next_attempt: Any
) -> None:
    driver.send(*(metrics(batch, batch, loss=1.0) for batch in (1, 2, 3)))
    newer = next_attempt(driver.run, 2)
    newer.send(event(1, "resumed", batch=1, policy_version=1, optimizer_step=4), metrics(2, 2, loss=2.0))
    kept = MetricPoint.objects.order_by("batch").values_list("attempt", "batch", "value")
    assert list(kept) == [(1, 1, 1.0), (2, 2, 2.0)]


def test_a_driver_that_goes_back_supersedes_its_own_points(driver: Any, event: Make, metrics: Make) -> None:
    resumed = event(3, "resumed", batch=1, policy_version=1, optimizer_step=4)
    driver.send(metrics(1, 1, loss=1.0), metrics(2, 2, loss=1.0), resumed, metrics(4, 2, loss=2.0))
    kept = MetricPoint.objects.order_by("batch").values_list("batch", "value")
    assert list(kept) == [(1, 1.0), (2, 2.0)]


@settings(max_examples=examples(12, 25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(slices=st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12)), max_size=12))
def test_any_split_and_repeat_gives_the_same_stream(driver: Any, event: Make, slices: list[tuple[int, int]]) -> None:
    """Batches start anywhere up to the mark, overlap and repeat; the end is sent last."""
    RunLogEntry.objects.all().delete()
    AttemptStream.objects.all().delete()
    RunStream.objects.update(last_stream_seq=0)
    everything = [event(seq, message=f"word {seq}") for seq in range(1, 13)]
    mark = 0
    for first, length in slices:
        start = min(first, mark)
        mark = max(mark, driver.send(*everything[start : start + length]).acknowledged)
    assert driver.send(*everything).acknowledged == 12
    stored = [(item["stream_seq"], item["body"]["message"]) for item in driver.items]
    assert stored == [(seq, f"word {seq}") for seq in range(1, 13)]
