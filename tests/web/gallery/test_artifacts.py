"""Uploads: complete, checked, immutable, inside the run's folder."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gallery import storage
from gallery.artifacts import ArtifactTaken, delete_run_artifacts, find_artifact, store_artifacts
from gallery.models import Artifact
from gallery.storage import ArtifactRefused, ChecksumMismatch, checked_path
from tests.web.valid_files import valid_file

Put = Callable[..., Artifact]


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.django_db
def test_what_was_put_can_be_read_again(run: Any, put: Put) -> None:
    content = valid_file("0.png", b"x" * 3_000_000)
    stored = put("samples/batch-1/0-0.png", content, is_valid=False)
    assert (stored.num_bytes, stored.content_type) == (len(content), "image/png")
    found = find_artifact(run.pk, "samples/batch-1/0-0.png")
    assert found is not None
    file = storage.open_to_read(found.storage_key)
    assert b"".join(storage.chunks(file, range(found.num_bytes))) == content


@pytest.mark.django_db
def test_a_repeat_is_acknowledged_and_stored_once(put: Put, artifact_folder: Path) -> None:
    assert put("a.png").pk == put("a.png").pk
    assert len(files_below(artifact_folder)) == 1


@pytest.mark.django_db
def test_other_bytes_under_a_taken_path_are_refused(put: Put) -> None:
    put("a.png", b"one")
    with pytest.raises(ArtifactTaken, match="artifacts never change"):
        put("a.png", b"two")


@pytest.mark.django_db
def test_each_attempt_has_its_own_bytes_and_the_newest_is_found(run: Any, put: Put) -> None:
    put("a.png", b"one", attempt=1)
    put("a.png", b"two", attempt=2)
    newest, first = find_artifact(run.pk, "a.png"), find_artifact(run.pk, "a.png", attempt=1)
    assert newest is not None and first is not None
    assert storage.open_to_read(newest.storage_key).read() == valid_file("a.png", b"two")
    assert storage.open_to_read(first.storage_key).read() == valid_file("a.png", b"one")


@pytest.mark.django_db
def test_bytes_that_do_not_match_leave_nothing_behind(put: Put, artifact_folder: Path) -> None:
    with pytest.raises(ChecksumMismatch):
        put("a.png", b"cut off", sha256="0" * 64)
    assert files_below(artifact_folder) == []
    assert not Artifact.objects.exists()


@pytest.mark.django_db
def test_too_many_bytes_leave_nothing_behind(put: Put, artifact_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAX_ARTIFACT_BYTES", 10)
    with pytest.raises(ArtifactRefused):
        put("a.png", b"eleven bytes")
    assert files_below(artifact_folder) == []


@pytest.mark.django_db
def test_a_run_can_be_emptied_twice(run: Any, put: Put, artifact_folder: Path) -> None:
    put("a.png")
    delete_run_artifacts(run.pk)
    delete_run_artifacts(str(run.pk))
    assert files_below(artifact_folder) == []


@pytest.mark.parametrize(
    "path",
    [
        "../a.png",
        "a/../../b.png",
        "/etc/a.png",
        "a//b.png",
        "./a.png",
        ".hidden.png",
        "a\\b.png",
        "a b.png",
        "",
        "a/",
        "a\x00.png",
        f"{'a' * 297}.png",
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(ArtifactRefused):
        checked_path(path)


@pytest.mark.parametrize("path", ["w.pt", "w.bin", "w.ckpt", "w.pkl", "page.html", "script.svg", "none"])
def test_pickles_and_unknown_endings_are_refused(path: str) -> None:
    with pytest.raises(ArtifactRefused, match="must end in one of"):
        checked_path(path)


@given(st.text(max_size=40))
def test_an_accepted_path_stays_below_its_folder(text: str) -> None:
    path = f"{text}.png"
    try:
        checked_path(path)
    except ArtifactRefused:
        return
    assert Path("/run", path).resolve().is_relative_to("/run")
    assert ".." not in path.split("/")


@pytest.mark.parametrize("sha256", ["", "A" * 64, "0" * 63, "../" * 21 + "0"])
def test_a_checksum_that_is_none_is_refused(sha256: str) -> None:
    with pytest.raises(ArtifactRefused, match="64 lower-case hex"):
        storage.write("x", BytesIO(b""), sha256)


def test_an_upload_replaces_nothing_half_way(artifact_folder: Path) -> None:
    class Breaks(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise ConnectionResetError("gone")

    storage.write("run/a.txt", BytesIO(b"whole"), hashlib.sha256(b"whole").hexdigest())
    with pytest.raises(ConnectionResetError):
        storage.write("run/a.txt", Breaks(), "0" * 64)
    assert storage.open_to_read("run/a.txt").read() == b"whole"
    assert files_below(artifact_folder) == ["run/a.txt"]


@pytest.mark.django_db
@pytest.mark.parametrize("other", [b"first", b"other"])
def test_of_two_uploads_at_once_the_row_of_the_first_is_kept(
    run: Any, monkeypatch: pytest.MonkeyPatch, other: bytes
) -> None:
    """The other upload stores its rows while this one writes its files."""
    paths = [f"samples/{number}.txt" for number in range(3)]
    write_all, contents = storage.write_all, [dict.fromkeys(paths, b"first"), dict.fromkeys(paths[1:], other)]

    def write(files: Any) -> None:
        write_all(files)
        if contents:
            store_artifacts(run_id=run.pk, attempt=1, files=contents.pop())

    monkeypatch.setattr(storage, "write_all", write)
    ours = contents.pop(0)
    if other == b"first":
        store_artifacts(run_id=run.pk, attempt=1, files=ours)
        assert sorted(Artifact.objects.values_list("path", flat=True)) == paths
    else:
        with pytest.raises(ArtifactTaken):
            store_artifacts(run_id=run.pk, attempt=1, files=ours)
        assert sorted(Artifact.objects.values_list("path", flat=True)) == paths[1:]
