"""The trace of a run, whose spans end in different processes, days apart.

    request (HTTP) ─► run ─┬► queue
                           └► attempt ─┬► launch
                                       └► batch ─┬► work of a lane
                                                 └► optimizer step

Invariant: a span's id follows from the run and the span's place in it, and the trace from the request that made the
run, or from the run's own id. So whoever sees a span end can name its parent, which may not have ended yet, and what is
reported twice is the same span.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

Place = tuple[str | int | float, ...]
"""Where a span is in its run: () is the run itself."""


@dataclass(frozen=True, slots=True)
class RunTrace:
    run_id: UUID
    traceparent: str
    """W3C's, of the request that made the run; empty: none."""

    def traceparent_of(self, place: Place) -> str:
        """The context of a span, as W3C's header spells it."""
        return f"00-{self._trace_id:032x}-{self._span_id(place):016x}-{'01' if self._is_sampled() else '00'}"

    def add(
        self,
        name: str,
        place: Place,
        parent: Place | None,
        start: float,
        end: float,
        attributes: Mapping[str, Any],
        *,
        failure: str = "",
    ) -> None:
        """A span that has ended (Unix seconds); `parent` is None for the run's own, under the request."""
        if not self._is_sampled():
            return
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

        from traces.trace_export import tracing

        def context(span_id: int) -> SpanContext:
            return SpanContext(self._trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

        above = self._request_span_id if parent is None else self._span_id(parent)
        exporter = tracing()
        span = ReadableSpan(
            name,
            context=context(self._span_id(place)),
            parent=context(above) if above else None,
            resource=exporter.provider.resource,
            attributes={"tandem.run.id": str(self.run_id), **_given(attributes)},
            kind=SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, failure) if failure else Status(StatusCode.UNSET),
            start_time=_nanoseconds(start),
            end_time=_nanoseconds(max(start, end)),
        )
        exporter.export(span)

    @property
    def _trace_id(self) -> int:
        return int(self.traceparent.split("-")[1], 16) if self.traceparent else self.run_id.int

    @property
    def _request_span_id(self) -> int:
        return int(self.traceparent.split("-")[2], 16) if self.traceparent else 0

    def _is_sampled(self) -> bool:
        if not settings.TANDEM_TRACES:
            return False
        if self.traceparent:
            return bool(int(self.traceparent.split("-")[3], 16) & 1)
        from opentelemetry.sdk.trace.sampling import Decision

        from traces.trace_export import tracing

        sampled = tracing().provider.sampler.should_sample(None, self._trace_id, "run")
        return sampled.decision is Decision.RECORD_AND_SAMPLE

    def _span_id(self, place: Place) -> int:
        name = "/".join(map(str, (self.run_id, *place)))
        return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def _nanoseconds(unix_seconds: float) -> int:
    return round(unix_seconds * 1e9)


def _given(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}
