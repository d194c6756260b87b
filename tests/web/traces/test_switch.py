"""Traces are off unless OpenTelemetry's variables switch them on: then what sends them is not even loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from audit.request_context import RequestContext
from runs.tasks import dispatch_runs
from server.celery_app import adopt_request, count_ended_task
from tests.trace_collector import Collector, attributes
from tests.web.traces.conftest import received
from traces.span_counts import span_counts
from traces.switch import is_traced, switch_problem

ROOT = Path(__file__).parents[3]
LOADED = """
import django; django.setup()
import server.asgi, server.celery_app, telemetry.ingest.ingest, sys
ours = ("traces.trace_export", "server.traced_requests")
loaded = (*ours, "opentelemetry.exporter", "opentelemetry.proto", "google.protobuf")
assert not [name for name in sys.modules if name.startswith(loaded)]
"""
"""Redis' client loads the SDK's metrics wherever the SDK is installed; what traces need is more."""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, False),
    ],
)
def test_the_standard_variables_switch_traces_on(environment: dict[str, str], expected: bool) -> None:
    assert is_traced(environment) is expected
    assert switch_problem(environment) == ""


def test_what_cannot_be_had_is_named() -> None:
    assert switch_problem({"OTEL_TRACES_EXPORTER": "zipkin"}) == "`OTEL_TRACES_EXPORTER` must be otlp, got zipkin"
    asked = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert switch_problem(asked) == "`OTEL_EXPORTER_OTLP_PROTOCOL` must be http/protobuf, got grpc"


def test_what_sends_traces_is_not_loaded_while_they_are_off(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment |= {"PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}", "DJANGO_SETTINGS_MODULE": "server.settings"}
    environment |= {"SECRET_KEY": "x", "TANDEM_VAR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", LOADED], env=environment, check=True, timeout=60)


@pytest.mark.django_db
def test_a_task_goes_on_with_the_trace_of_the_request_that_enqueued_it(traced: Collector) -> None:
    task = dispatch_runs
    above = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    before = span_counts()["sent"]
    headers = RequestContext("r1", traceparent=above).headers()
    task.push_request(headers=headers, id="t1", delivery_info={"routing_key": "runs"})
    try:
        adopt_request(task)
        count_ended_task(task, "SUCCESS")
    finally:
        task.pop_request()
    (span,) = received(traced).values()
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == tuple(above.split("-")[1:3])
    about = attributes(span)
    assert (about["messaging.system"], about["messaging.destination.name"]) == ("celery", "runs")
    assert span_counts()["sent"] == before + 1
