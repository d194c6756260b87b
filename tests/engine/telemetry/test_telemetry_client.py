import time
from collections.abc import Callable, Iterator

import pytest

from tests.engine.telemetry.ingest_server import TOKEN, Ingest
from worker.contracts.commands import CommandKind
from worker.contracts.events import LogEvent, PhaseEvent
from worker.contracts.states import Phase
from worker.engine.telemetry import telemetry_client
from worker.engine.telemetry.log_forwarding import LogForwarder, LogRecord
from worker.engine.telemetry.run_bootstrap import trade_bootstrap_code
from worker.engine.telemetry.spool import Spool
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.ingest.web_connection import FencedError, WebRefusedError


def until(condition: Callable[[], bool]) -> None:
    """Wait up to ten seconds for another thread."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "the condition must hold within 10 s"
        time.sleep(0.01)


@pytest.fixture
def client(ingest: Ingest) -> Iterator[TelemetryClient]:
    client = TelemetryClient(ingest.url, run="r", attempt=1, token=TOKEN, spool=Spool())
    yield client
    client.close()


def test_events_arrive_numbered_and_complete(client: TelemetryClient, ingest: Ingest) -> None:
    client.start()
    for index in range(1200):
        client.emit(PhaseEvent, phase=Phase.TRAIN, detail=str(index))
    assert client.flush(10)
    assert [event["seq"] for event in ingest.events] == list(range(1, 1201))
    assert ingest.num_posts >= 3


def test_no_event_is_lost_while_the_web_is_unreachable(client: TelemetryClient, ingest: Ingest) -> None:
    client.start()
    client.emit(PhaseEvent, phase=Phase.LOAD_MODEL)
    assert client.flush(10)
    ingest.is_unreachable = True
    for _ in range(20):
        client.emit(PhaseEvent, phase=Phase.TRAIN)
    assert not client.flush(0.3)
    ingest.is_unreachable = False
    assert client.flush(10)
    assert [event["seq"] for event in ingest.events] == list(range(1, 22))


def test_an_idle_run_sends_heartbeats(client: TelemetryClient, ingest: Ingest) -> None:
    client.start()
    until(lambda: ingest.num_posts >= 3)
    assert ingest.events == []


def test_events_of_a_run_that_is_watched_are_posted_before_the_next_heartbeat(
    client: TelemetryClient, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_client, "COALESCE_SECONDS", 0.05)
    monkeypatch.setattr(telemetry_client, "HEARTBEAT_SECONDS", 60.0)
    ingest.is_watched = True
    client.start()
    assert client.flush(10)
    client.emit(PhaseEvent, phase=Phase.TRAIN)
    until(lambda: len(ingest.events) == 1)


def test_events_of_a_run_that_nobody_watches_wait_for_others_until_they_are_flushed(
    client: TelemetryClient, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry_client, "COALESCE_SECONDS", 0.05)
    monkeypatch.setattr(telemetry_client, "HEARTBEAT_SECONDS", 60.0)
    client.start()
    until(lambda: ingest.num_posts == 1)
    for _ in range(3):
        client.emit(PhaseEvent, phase=Phase.TRAIN)
        time.sleep(0.1)
    assert ingest.num_posts == 1
    assert client.flush(10)
    assert ingest.num_posts == 2 and len(ingest.events) == 3


def test_a_repeated_command_is_received_once(client: TelemetryClient, ingest: Ingest) -> None:
    ingest.commands = [{"id": "c1", "kind": "pause", "prompts": []}]
    client.start()
    until(lambda: ingest.num_posts >= 3)
    assert [command.kind for command in client.take_commands()] == [CommandKind.PAUSE]
    ingest.commands.append({"id": "c2", "kind": "resume", "prompts": []})
    until(lambda: [command.id for command in client.take_commands()] == ["c2"])


def test_a_fenced_attempt_stops_posting(client: TelemetryClient, ingest: Ingest) -> None:
    ingest.is_fenced = True
    client.start()
    client.emit(PhaseEvent, phase=Phase.TRAIN)
    assert not client.flush(10)
    with pytest.raises(FencedError):
        client.check()


def test_events_that_the_web_already_has_are_skipped(ingest: Ingest) -> None:
    """As when the web stored them but its answer was lost: posting continues from the number it expects."""
    client = TelemetryClient(ingest.url, run="r", attempt=1, token=TOKEN, spool=Spool(first_seq=1))
    for _ in range(3):
        client.emit(PhaseEvent, phase=Phase.TRAIN)
    ingest.take(b'{"events":[{"seq":1,"at":1.0,"type":"phase","phase":"train","detail":""}]}')
    client.start()
    assert client.flush(10)
    assert ingest.high_water == 3
    client.close()


def test_a_bad_token_ends_the_attempt_instead_of_being_retried(ingest: Ingest) -> None:
    client = TelemetryClient(ingest.url, run="r", attempt=1, token="wrong", spool=Spool())
    client.start()
    until(lambda: client._failure is not None)
    with pytest.raises(WebRefusedError, match="401"):
        client.check()
    client.close()


def test_logs_over_the_rate_are_dropped_and_counted_in_a_later_message(client: TelemetryClient, ingest: Ingest) -> None:
    forwarder = LogForwarder(client)
    for index in range(80):
        forwarder.forward("rollout-0", LogRecord("info", f"line {index}"))
    forwarder.forward("rollout-0", LogRecord("error", "the end"))
    client.start()
    assert client.flush(10)
    logs = [LogEvent.model_validate(event) for event in ingest.events]
    assert len(logs) <= 52
    assert logs[-1].level == "error" and "were dropped" in logs[-1].message


def test_a_refused_bootstrap_code_is_not_tried_again(ingest: Ingest) -> None:
    with pytest.raises(WebRefusedError, match="404"):
        trade_bootstrap_code(ingest.url, "used")
