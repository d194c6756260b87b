"""OpenTelemetry's SDK with a queue of Tandem's own before its exporter, made when the first span is.

The SDK reads its variables itself: the collector's address and headers, the resource, the sampler, the limits of the
queue. Its own queue does not tell how many spans it dropped.
"""

import atexit
import os
import threading
from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import (
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    OTEL_BSP_MAX_QUEUE_SIZE,
    OTEL_BSP_SCHEDULE_DELAY,
)
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import Tracer

from traces.span_counts import count_spans
from traces.span_queue import SpanQueue

FLUSH_SECONDS = 2.0
"""How long a process that ends sends what still waits."""
_SCOPE = "tandem"


class _ToQueue(SpanProcessor):
    def __init__(self, queue: SpanQueue) -> None:
        self._queue = queue

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._queue.put(span)


class Tracing:
    """The provider of spans, and the queue that all of them go through."""

    def __init__(self) -> None:
        exporter = OTLPSpanExporter()
        self.queue = SpanQueue(
            lambda batch: exporter.export(batch) is SpanExportResult.SUCCESS,
            count_spans,
            # The defaults of OpenTelemetry's specification.
            size=int(os.environ.get(OTEL_BSP_MAX_QUEUE_SIZE, 2048)),
            batch_size=int(os.environ.get(OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512)),
            delay_seconds=int(os.environ.get(OTEL_BSP_SCHEDULE_DELAY, 5000)) / 1000,
        )
        named = Resource.create({SERVICE_NAME: "tandem"}).merge(OTELResourceDetector().detect())
        self.provider = TracerProvider(resource=named, shutdown_on_exit=False)
        self.provider.add_span_processor(_ToQueue(self.queue))
        self.tracer: Tracer = self.provider.get_tracer(_SCOPE)
        atexit.register(self.queue.flush, FLUSH_SECONDS)

    def export(self, span: ReadableSpan) -> None:
        """Send a span that was timed elsewhere."""
        self.queue.put(span)


_one_at_a_time = threading.Lock()


def tracing() -> Tracing:
    """That of this process."""
    # Two first requests at once would make two queues, each with a thread and an exporter of its own.
    with _one_at_a_time:
        return _made()


@cache
def _made() -> Tracing:
    return Tracing()
