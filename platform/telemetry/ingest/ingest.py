"""Ingest: a driver's numbered events become rows, once each, in the run's one order.

    authorise ► parse ► lock the run's stream ► authorise again ► drop repeats ► number ► COPY ► apply ► commit, publish

Invariant: an event is stored exactly once, whatever is repeated, split or sent by two drivers at once; a batch is
stored whole or not at all.
"""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.db import OperationalError, transaction
from psycopg.errors import DiskFull

from live.publish import publish_run
from live.watching import is_watched
from runs import report_storage
from runs.attempts.tokens import AttemptGone, authorise
from runs.checkpoint_files import checkpoints_url
from runs.models import Run
from runs.reports import driver_reports
from runs.stream import lock_stream, next_stream_seqs
from telemetry.bulk_copy import copy_log_entries, copy_spans, copy_stream_items
from telemetry.curves.metric_rollups import store_metrics
from telemetry.ingest.event_parsing import check_checkpoints, check_prompts, fresh_events, parse_events
from telemetry.ingest.handlers import EventContext, handle
from telemetry.ingest.ingest_errors import StorageFull
from telemetry.models import AttemptStream
from telemetry.prompts.group_outcomes import store_group_outcomes
from telemetry.run_spans import trace_events
from telemetry.stream_items import event_body, item
from telemetry.timeline.bubbles import add_lane_time
from telemetry.timeline.lane_state_rollups import add_lane_states
from worker.contracts.events import GroupsEvent, RunEvent
from worker.contracts.ingest import IngestAnswer, IngestBatch

PROGRESS_TYPES = frozenset({"publish", "phase", "costs"})


def ingest(*, run_id: UUID, attempt: int, token: str, batch: IngestBatch) -> IngestAnswer:
    """Store what is new in `batch`, and answer with the high-water mark and the commands that wait.

    An empty batch is a heartbeat. A pure repeat is acknowledged even if the run has ended meanwhile, so that a driver
    whose last answer was lost can exit.

    Raises:
        runs.attempts.tokens.TokenRefused: not the token of this run and attempt.
        runs.attempts.tokens.AttemptGone: a newer attempt exists, or the run has ended.
        InvalidEvent: an event does not fit its contract.
        SequenceGap: events are missing before the first new one.
        StorageFull: the disk of the database is full; the driver counts as heard all the same.
    """
    try:
        authorise(run_id=run_id, attempt=attempt, token=token)
        events = parse_events(batch.events)
        check_checkpoints(events, checkpoints_url(run_id, attempt))
        if any(isinstance(event, GroupsEvent) for event in events):
            check_prompts(events, Run.objects.values_list("num_prompts", flat=True).get(pk=run_id))
        with transaction.atomic():
            answer = _store(run_id, attempt, token, events)
        return answer.model_copy(update={"is_watched": is_watched(run_id)})
    except (OperationalError, DiskFull) as error:
        if not report_storage.is_full(error):
            raise
        report_storage.note_full(run_id)
        # Its row is there and has room for this where the table has none for events.
        with suppress(OperationalError):
            driver_reports.record_heartbeat(run_id)
        raise StorageFull(report_storage.FULL) from error
    except AttemptGone:
        high_water = _high_water(run_id, attempt)
        if not _is_repeat(batch, high_water):
            raise
        return IngestAnswer(acknowledged=high_water)


def _store(run_id: UUID, attempt: int, token: str, events: Sequence[RunEvent]) -> IngestAnswer:
    lock_stream(run_id)
    # A newer attempt may have been created before the lock was taken, so only this second check fences.
    authorise(run_id=run_id, attempt=attempt, token=token)
    stream, _ = AttemptStream.objects.get_or_create(run_id=run_id, attempt=attempt)
    fresh = fresh_events(events, stream.high_water)
    if fresh:
        stream.high_water = fresh[-1].seq
        stream.save(update_fields=["high_water"])
        _store_fresh(run_id, attempt, fresh)
    driver_reports.record_heartbeat(run_id)
    return IngestAnswer(acknowledged=stream.high_water, commands=driver_reports.pending_commands(run_id))


def _store_fresh(run_id: UUID, attempt: int, fresh: Sequence[RunEvent]) -> None:
    numbered = list(zip(next_stream_seqs(run_id, len(fresh)), fresh, strict=True))
    bodies = [event_body(event) for event in fresh]
    copy_stream_items(run_id, attempt, numbered, bodies)
    copy_log_entries(run_id, attempt, numbered)
    store_metrics(run_id, attempt, numbered)
    copy_spans(run_id, attempt, numbered)
    store_group_outcomes(run_id, attempt, fresh)
    add_lane_time(run_id, attempt, fresh)
    add_lane_states(run_id, numbered)
    publish_run(
        run_id,
        [
            item(stream_seq=number, type=event.type, at=event.at, attempt=attempt, body=body)
            for (number, event), body in zip(numbered, bodies, strict=True)
        ],
    )
    trace_events(run_id, attempt, fresh)
    for number, event in numbered:
        handle(EventContext(run_id=run_id, attempt=attempt, stream_seq=number), event)
    for event in _events_for_the_run_row(fresh):
        driver_reports.apply_event(run_id, attempt, event)


def _events_for_the_run_row(fresh: Sequence[RunEvent]) -> list[RunEvent]:
    """The events that update the run's row, in order; of the types that only report progress, just the last one."""
    last = {event.type: event.seq for event in fresh if event.type in PROGRESS_TYPES}
    return [event for event in fresh if last.get(event.type, event.seq) == event.seq]


def _is_repeat(batch: IngestBatch, high_water: int) -> bool:
    """Whether the batch holds events, and none of them is new."""
    numbers = [event.get("seq") for event in batch.events]
    return bool(numbers) and all(isinstance(number, int) and number <= high_water for number in numbers)


def _high_water(run_id: UUID, attempt: int) -> int:
    marks = AttemptStream.objects.filter(run_id=run_id, attempt=attempt).values_list("high_water", flat=True)
    return marks.first() or 0
