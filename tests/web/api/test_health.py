"""Health: for anybody, and honest about what is away."""

from typing import Any

import pytest
from rest_framework.test import APIClient


def test_liveness_asks_no_other_server() -> None:
    assert APIClient().get("/api/v1/health/live").json() == {"ok": True}


@pytest.mark.django_db
def test_ready_asks_database_and_broker() -> None:
    ready = APIClient().get("/api/v1/health/ready")
    assert (ready.status_code, ready.json()["ok"]) == (200, True)
    assert ready.json()["checks"] == {"database": "ok", "broker": "ok"}
    assert ready.json()["database_circuit"]["away_since"] is None


@pytest.mark.django_db
def test_503_names_what_is_away(settings: Any) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    ready = APIClient().get("/api/v1/health/ready")
    assert (ready.status_code, ready.json()["checks"]["broker"]) == (503, "away: ConnectionError")
