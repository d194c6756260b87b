import pytest

from worker.engine.telemetry import artifact_uploader, telemetry_client
from worker.ingest import web_connection


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the waits, since the tests are about order and loss, not about time."""
    monkeypatch.setattr(telemetry_client, "COALESCE_SECONDS", 0.02)
    monkeypatch.setattr(telemetry_client, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(web_connection, "FIRST_BACK_OFF_SECONDS", 0.02)
    monkeypatch.setattr(web_connection, "MAX_BACK_OFF_SECONDS", 0.05)
    monkeypatch.setattr(artifact_uploader, "MAX_TRIES", 4)
