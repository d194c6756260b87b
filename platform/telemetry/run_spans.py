"""What a driver reports, as spans of its run's trace: the work of lanes, batches, optimizer steps.

Read from the events that are stored anyway, so that training is measured once and never waits for a collector. Time in
which a lane idled or was paused is no work and no span.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Min

from runs.run_traces import attempt_place, trace_of
from telemetry.models import MetricPoint, SpanRow
from telemetry.observed_lanes import role_of
from traces.run_trace import Place
from worker.contracts.events import MetricsEvent, RunEvent, SpansEvent
from worker.contracts.metric_names import Metric
from worker.contracts.spans import Span, SpanKind

NO_WORK = frozenset({SpanKind.IDLE, SpanKind.PAUSE})
OF_STEP = Metric.LEARNING_RATE.value
"""A metric that each optimizer step reports, and nothing else."""


def trace_events(run_id: UUID, attempt: int, fresh: Sequence[RunEvent]) -> None:
    """After commit, tell of the spans and ended batches among these events."""
    if not settings.TANDEM_TRACES:
        return
    for event in fresh:
        if isinstance(event, SpansEvent):
            transaction.on_commit(partial(_add_work, run_id, attempt, event.spans), robust=True)
        elif isinstance(event, MetricsEvent) and Metric.BATCH_SECONDS in event.values:
            transaction.on_commit(partial(_add_batch, run_id, attempt, event), robust=True)


def _batch_place(attempt: int, batch: int) -> Place:
    """`batch` counts from 0, as spans do."""
    return (*attempt_place(attempt), "batch", batch)


def _add_work(run_id: UUID, attempt: int, spans: Sequence[Span]) -> None:
    trace = trace_of(run_id)
    for span in spans:
        if span.kind in NO_WORK:
            continue
        parent = attempt_place(attempt) if span.batch is None else _batch_place(attempt, span.batch)
        place = (*attempt_place(attempt), span.lane, span.kind.value, span.start)
        about = {
            "tandem.attempt": attempt,
            "tandem.lane": span.lane,
            "tandem.role": role_of(span.lane, {}) or None,
            "tandem.batch": span.batch,
            "tandem.group": span.group,
            "tandem.fragment": span.fragment,
            "tandem.policy_version": span.policy_version,
        }
        trace.add(span.kind.value, place, parent, span.start, span.end, about)


def _add_batch(run_id: UUID, attempt: int, event: MetricsEvent) -> None:
    """The batch that has just been trained, and the optimizer steps in it: each lasts from the one before, the first
    from the batch's first training."""
    trace, batch = trace_of(run_id), event.batch - 1
    start, place = event.at - event.values[Metric.BATCH_SECONDS], _batch_place(attempt, batch)
    about = {"tandem.attempt": attempt, "tandem.batch": batch}
    trace.add(f"batch {batch}", place, attempt_place(attempt), start, event.at, about)
    points = MetricPoint.objects.filter(run_id=run_id, attempt=attempt, key=OF_STEP, batch=event.batch)
    steps = list(points.order_by("optimizer_step").values_list("optimizer_step", "at"))
    trained = SpanRow.objects.filter(run_id=run_id, attempt=attempt, batch=batch, kind=SpanKind.TRAIN)
    first = trained.aggregate(start=Min("start"))["start"] or start
    for (_, began), (number, ended) in pairwise([(0, max(start, first)), *steps]):
        step = {**about, "tandem.optimizer_step": number}
        trace.add("optimizer step", (*place, "step", number), place, began, ended, step)
