"""One trace of a real run through the whole stack: web, tasks and driver, to a collector over HTTP."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import running_stack
from tests.trace_collector import attributes, running_collector

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]


@pytest.mark.timeout(600)
def test_a_run_is_one_trace_from_its_request_to_its_optimizer_steps(tmp_path: Path) -> None:
    with running_collector() as collector:
        sent = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_SERVICE_NAME": "tandem-test"}
        with running_stack(tmp_path, **sent, OTEL_BSP_SCHEDULE_DELAY="200") as stack:
            rest = Rest.log_in(stack)
            spec = {**rest.preset("shapes-quick"), "num_batches": 2}
            run_id = rest.start_run("traced", spec)
            wait_until(lambda: "run" in collector.by_name, "the end of the run's span", 2 * START_SECONDS)
            counted = rest.client.get("/metrics").text
            rest.close()
    whole = collector.by_name["run"]
    spans = {span.span_id: span for span in collector.spans if span.trace_id == whole.trace_id}
    step = next(span for span in spans.values() if span.name == "optimizer step")
    path = [step]
    while path[-1].parent_span_id in spans:
        path.append(spans[path[-1].parent_span_id])
    assert [span.name for span in path] == [
        "optimizer step",
        "batch 0",
        "attempt 1",
        "run",
        "POST /api/v1/runs",
    ]
    names = {span.name for span in spans.values()}
    assert {"queue", "launch", "generate", "score", "train", "process tandem.runs.dispatch"} <= names
    assert attributes(whole)["tandem.run.id"] == run_id
    assert attributes(whole)["tandem.run.state"] == "completed"
    for span, above in pairwise(path):
        assert above.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
    assert collector.services == {"tandem-test"}
    assert 'tandem_trace_spans_total{outcome="sent"}' in counted
