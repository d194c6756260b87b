"""Uploads of artifacts by drivers, one or several at once: every status of the contract."""

import hashlib
import io
import tarfile
from typing import Any

import pytest
from django.test import Client

from gallery.artifact_bundles import MAX_TAR_BYTES
from gallery.models import Artifact
from tests.web.valid_files import valid_file
from worker.contracts.ingest import ARTIFACT_PATH, ARTIFACTS_PATH, MAX_BUNDLE_FILES, SHA256_HEADER

pytestmark = pytest.mark.django_db
TOKEN = "the driver's token"


def put(
    client: Client, run: Any, content: bytes, *, path: str = "samples/a.png", is_valid: bool = True, **changes: Any
) -> Any:
    """Upload a file with this mark, or exactly these bytes."""
    content = valid_file(path, content) if is_valid else content
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
    stored = valid_file("a.png", b"pixels")
    told = {"path": "samples/a.png", "sha256": hashlib.sha256(stored).hexdigest(), "num_bytes": len(stored)}
    assert response.json() == told
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


def test_422_for_bytes_that_are_not_those_announced(client: Client, run: Any) -> None:
    for sha256 in ("0" * 64, "", "x", "A" * 64):
        assert put(client, run, b"pixels", sha256=sha256).status_code == 422


def test_507_when_the_storage_is_full(client: Client, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gallery.storage.write", full)
    response = put(client, run, b"pixels")
    assert response.status_code == 507
    assert "free space" in response.json()["detail"]


def tar_of(*files: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path, content in files:
            info = tarfile.TarInfo(path)
            whole = valid_file(path, content) if kind == tarfile.REGTYPE else content
            info.size, info.type = len(whole), kind
            tar.addfile(info, io.BytesIO(whole))
    return archive.getvalue()


def post(client: Client, run: Any, body: bytes, **changes: Any) -> Any:
    headers = {
        "Authorization": f"Bearer {changes.get('token', TOKEN)}",
        SHA256_HEADER: changes.get("sha256", hashlib.sha256(body).hexdigest()),
    }
    address = ARTIFACTS_PATH.format(run=run.pk, attempt=1)
    return client.post(address, body, content_type="application/x-tar", headers=headers)


def test_201_for_several_files_at_once_and_for_their_repeat(run: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    body = tar_of(("samples/a.png", b"one"), ("samples/b.png", b"two"))
    for _ in range(2):
        response = post(strict, run, body)
        assert (response.status_code, response.json()) == (201, {"num_files": 2})
    assert {row.path: row.sha256 for row in Artifact.objects.all()} == {
        "samples/a.png": hashlib.sha256(valid_file("a.png", b"one")).hexdigest(),
        "samples/b.png": hashlib.sha256(valid_file("b.png", b"two")).hexdigest(),
    }


@pytest.mark.parametrize("size", ["a", "-1", "9" * 40])
def test_422_for_a_tar_whose_headers_hold_no_sizes(client: Client, run: Any, size: str) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in ("GNU.sparse.size", "size"):
            info = tarfile.TarInfo("a.png")
            info.pax_headers = {name: size}
            tar.addfile(info)
    answered = post(client, run, archive.getvalue())
    assert (answered.status_code, Artifact.objects.count()) == (422, 0)


def test_422_for_a_name_that_no_file_system_takes(client: Client, run: Any) -> None:
    assert put(client, run, b"x", path="x" * 252 + ".png").status_code == 422
    assert put(client, run, b"x", path="x" * 251 + ".png").status_code == 201


@pytest.mark.parametrize("paths", [("a.png", "a.png/b.png"), ("a.png/b.png", "a.png")])
def test_422_for_a_path_below_a_file_in_either_order(client: Client, run: Any, paths: tuple[str, str]) -> None:
    answered = {path: put(client, run, b"x", path=path).status_code for path in paths}
    assert answered == {"a.png": 201, "a.png/b.png": 422}


def test_files_at_once_are_kept_all_or_none(client: Client, run: Any) -> None:
    put(client, run, b"one", path="a.png")
    assert post(client, run, tar_of(("b.png", b"x"), ("a.png", b"another"))).status_code == 409
    assert post(client, run, tar_of(("b.png", b"x"), ("../a.png", b"x"))).status_code == 422
    assert post(client, run, tar_of(("b.png", b"x"), ("b.png", b"x"))).status_code == 422
    for kind in (tarfile.SYMTYPE, tarfile.GNUTYPE_SPARSE):
        assert post(client, run, tar_of(("b.png", b""), kind=kind)).status_code == 422
    assert post(client, run, tar_of(*((f"{i}.png", b"x") for i in range(MAX_BUNDLE_FILES + 1)))).status_code == 422
    assert post(client, run, b"no tar").status_code == 422
    assert post(client, run, bytes(MAX_TAR_BYTES + 1)).status_code == 422
    assert [row.path for row in Artifact.objects.all()] == ["a.png"]


def test_files_at_once_need_the_token_and_the_checksum(client: Client, run: Any) -> None:
    body = tar_of(("a.png", b"x"))
    assert post(client, run, body, token="guess").status_code == 401
    assert post(client, run, body, sha256="0" * 64).status_code == 422
    run.attempts.update(ended_at=run.created_at)
    assert post(client, run, body).status_code == 410
