"""The web with traces on, and a collector that they go to."""

from collections.abc import Iterator

import pytest
from django.conf import settings as configured
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pytest_django.fixtures import Settings

from runs.run_traces import trace_of
from tests.trace_collector import Collector, running_collector
from tests.web.api.conftest import api, client_of  # noqa: F401
from traces import trace_export
from traces.trace_export import tracing

MIDDLEWARE = "server.traced_requests.TracedRequestsMiddleware"


@pytest.fixture
def traced(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Traces are on, and go to the collector."""
    settings.TANDEM_TRACES = True
    settings.MIDDLEWARE = [configured.MIDDLEWARE[0], MIDDLEWARE, *configured.MIDDLEWARE[1:]]
    with running_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        _forget()
        yield collector
        tracing().queue.flush(1.0)
    _forget()


def received(collector: Collector) -> dict[str, Span]:
    """By name, once all that waits is sent."""
    assert tracing().queue.flush(5.0)
    return collector.by_name


def _forget() -> None:
    for made_once in (trace_export._made, trace_of):
        made_once.cache_clear()
