import pytest

from worker.engine.telemetry import artifacts, client, http


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real waits, shortened: the tests are about order and loss, not about time."""
    monkeypatch.setattr(client, "COALESCE_SECONDS", 0.02)
    monkeypatch.setattr(client, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(http, "FIRST_BACK_OFF_SECONDS", 0.02)
    monkeypatch.setattr(http, "MAX_BACK_OFF_SECONDS", 0.05)
    monkeypatch.setattr(artifacts, "MAX_TRIES", 4)
