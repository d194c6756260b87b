"""PUT of artifacts by drivers: every status of the contract."""

import hashlib
from typing import Any

import pytest
from django.test import Client

from worker.contracts.ingest import ARTIFACT_PATH, SHA256_HEADER

pytestmark = pytest.mark.django_db
TOKEN = "the driver's token"


def put(client: Client, run: Any, content: bytes, *, path: str = "samples/a.png", **changes: Any) -> Any:
    headers = {
        "Authorization": f"Bearer {changes.get('token', TOKEN)}",
        SHA256_HEADER: changes.get("sha256", hashlib.sha256(content).hexdigest()),
    }
    address = ARTIFACT_PATH.format(run=run.pk, attempt=changes.get("attempt", 1), path=path)
    return client.put(address, content, content_type="application/octet-stream", headers=headers)


def test_201_with_what_was_stored(run: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = put(strict, run, b"pixels")
    assert response.status_code == 201
    assert response.json() == {"path": "samples/a.png", "sha256": hashlib.sha256(b"pixels").hexdigest(), "num_bytes": 6}
    assert put(strict, run, b"pixels").status_code == 201


def test_401_without_the_token(client: Client, run: Any) -> None:
    assert put(client, run, b"pixels", token="guess").status_code == 401


def test_410_when_the_run_has_ended(client: Client, run: Any) -> None:
    run.attempts.update(ended_at=run.created_at)
    assert put(client, run, b"pixels").status_code == 410


def test_409_for_other_bytes(client: Client, run: Any) -> None:
    put(client, run, b"one")
    assert put(client, run, b"two").status_code == 409


def test_422_for_a_path_that_leads_elsewhere(client: Client, run: Any) -> None:
    assert put(client, run, b"x", path="..%2F..%2Fa.png").status_code == 422
    assert put(client, run, b"x", path="weights.pt").status_code == 422


def test_503_asks_for_another_try_when_bytes_were_lost(client: Client, run: Any) -> None:
    assert put(client, run, b"pixels", sha256="0" * 64).status_code == 503


def test_507_when_the_storage_is_full(client: Client, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gallery.storage.write", full)
    response = put(client, run, b"pixels")
    assert response.status_code == 507
    assert "free space" in response.json()["detail"]
