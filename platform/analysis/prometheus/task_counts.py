"""How often each Celery task ran, how it ended and how long it took: counted by workers in the broker, where the web
finds the counts of all of them."""

import logging
from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, Metric
from redis.exceptions import RedisError

from live.broker import broker
from traces.span_counts import span_counts

NUMBERS, SECONDS = "tandem:task-numbers", "tandem:task-seconds"
_BETWEEN = "|"

logger = logging.getLogger(__name__)


def count_task(task: str, state: str, seconds: float) -> None:
    """Count one task that ended. A broker that is away costs the count and nothing else."""
    try:
        with broker().pipeline() as pipeline:
            pipeline.hincrby(NUMBERS, f"{task}{_BETWEEN}{state}", 1)
            pipeline.hincrbyfloat(SECONDS, task, seconds)
            pipeline.execute()
    except RedisError as error:
        logger.warning("%s was not counted: %s", task, error)


def task_series() -> Iterator[Metric]:
    numbers = CounterMetricFamily("tandem_tasks", "Celery tasks that ended.", labels=["task", "state"])
    seconds = CounterMetricFamily("tandem_task_seconds", "Seconds that Celery tasks took.", labels=["task"])
    for key, number in broker().hgetall(NUMBERS).items():
        task, _, state = str(key).partition(_BETWEEN)
        numbers.add_metric([task, state], float(number))
    for name, took in broker().hgetall(SECONDS).items():
        seconds.add_metric([str(name)], float(took))
    yield from (numbers, seconds)


def trace_series() -> Iterator[Metric]:
    spans = CounterMetricFamily("tandem_trace_spans", "Spans of traces, by what became of them.", labels=["outcome"])
    for outcome, number in span_counts().items():
        spans.add_metric([outcome], number)
    yield spans
