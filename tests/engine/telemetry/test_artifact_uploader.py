from collections.abc import Iterator
from functools import partial

import pytest

from tests.engine.telemetry.ingest_server import TOKEN, Ingest
from worker.engine.telemetry import artifact_uploader
from worker.engine.telemetry.artifact_uploader import ArtifactFile, ArtifactUploader, Receipt
from worker.ingest.web_connection import FencedError


@pytest.fixture
def uploader(ingest: Ingest) -> Iterator[ArtifactUploader]:
    uploader = ArtifactUploader(ingest.url, run="r", attempt=1, token=TOKEN)
    yield uploader
    uploader.close()


def test_receipts_name_the_files_that_were_stored(uploader: ArtifactUploader, ingest: Ingest) -> None:
    receipts: list[Receipt] = []
    uploader.start()
    uploader.submit([ArtifactFile(f"samples/{i}.png", partial(bytes, [i])) for i in range(5)], receipts.extend)
    assert uploader.drain(10)
    assert [receipt.path for receipt in receipts] == sorted(ingest.artifacts)
    assert ingest.artifacts["samples/3.png"] == b"\x03"
    assert ingest.num_puts == 1, "small files go together"


def test_files_go_together_only_as_far_as_the_web_takes_them(
    uploader: ArtifactUploader, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact_uploader, "MAX_BUNDLE_BYTES", 10)
    monkeypatch.setattr(artifact_uploader, "MAX_BUNDLE_FILES", 3)
    receipts: list[Receipt] = []
    sizes = {"a": 4, "b": 6, "c": 1, "large": 50, "d": 1, "e": 1, "f": 1, "g": 1}
    uploader.start()
    uploader.submit([ArtifactFile(path, partial(bytes, size)) for path, size in sizes.items()], receipts.extend)
    assert uploader.drain(10)
    assert {receipt.path: receipt.num_bytes for receipt in receipts} == sizes
    assert {path: len(content) for path, content in ingest.artifacts.items()} == sizes
    assert ingest.num_puts == 5, "a and b, c, large, d to f, g"


def test_files_that_the_web_refuses_do_not_take_others_with_them(uploader: ArtifactUploader, ingest: Ingest) -> None:
    ingest.refused_artifacts = frozenset({"b.png"})
    receipts: list[Receipt] = []
    uploader.start()
    uploader.submit([ArtifactFile(f"{name}.png", name.encode) for name in "abc"], receipts.extend)
    assert uploader.drain(10)
    assert [receipt.path for receipt in receipts] == ["a.png", "c.png"]
    assert uploader.num_failed == 1


def test_a_failing_upload_is_tried_again(uploader: ArtifactUploader, ingest: Ingest) -> None:
    receipts: list[Receipt] = []
    ingest.num_puts_to_fail = 3
    uploader.start()
    uploader.submit([ArtifactFile("a.png", lambda: b"a")], receipts.extend)
    assert uploader.drain(10)
    assert len(receipts) == 1 and ingest.num_puts == 4 and uploader.num_failed == 0


def test_a_file_that_cannot_be_uploaded_is_given_up_and_counted(uploader: ArtifactUploader, ingest: Ingest) -> None:
    receipts: list[Receipt] = []
    ingest.num_puts_to_fail = 4
    uploader.start()
    for path in ("a.png", "b.png"):
        uploader.submit([ArtifactFile(path, lambda: b"x")], receipts.extend)
    assert uploader.drain(10)
    assert [receipt.path for receipt in receipts] == ["b.png"]
    assert uploader.num_failed == 1


def test_when_too_many_uploads_wait_old_samples_are_dropped_and_adapters_kept(
    uploader: ArtifactUploader, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact_uploader, "MAX_WAITING_UPLOADS", 2)
    for path in ("adapter", "sample-1", "sample-2"):
        uploader.submit([ArtifactFile(path, lambda: b"x")], lambda receipts: None, may_drop=path.startswith("sample"))
    uploader.start()
    assert uploader.drain(10)
    assert sorted(ingest.artifacts) == ["adapter", "sample-2"]
    assert uploader.num_dropped == 1


def test_when_waiting_uploads_hold_too_much_memory_old_samples_are_dropped(
    uploader: ArtifactUploader, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact_uploader, "MAX_WAITING_BYTES", 100)
    uploader.submit([ArtifactFile("adapter", lambda: b"x")], lambda receipts: None, may_drop=False)
    for path, num_bytes in (("clip-1", 60), ("clip-2", 40), ("clip-3", 50), ("clip-4", 500)):
        uploader.submit([ArtifactFile(path, lambda: b"x")], lambda receipts: None, num_bytes_held=num_bytes)
    uploader.start()
    assert uploader.drain(10)
    assert sorted(ingest.artifacts) == ["adapter", "clip-4"], "the newest is never refused"
    assert uploader.num_dropped == 3


def test_a_fenced_attempt_stops_uploading(uploader: ArtifactUploader, ingest: Ingest) -> None:
    ingest.is_fenced = True
    uploader.start()
    uploader.submit([ArtifactFile("a.png", lambda: b"a")], lambda receipts: None)
    assert not uploader.drain(10)
    with pytest.raises(FencedError):
        uploader.check()
