"""The samples that a run shows of a batch: one file for a picture, a playable file and its poster for a clip."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import ray

from worker.contracts.prompts import Prompt
from worker.contracts.sample_reports import SampleInfo
from worker.contracts.stored_samples import StoredSamplesSpec
from worker.engine.control.fragment_store import FragmentRecord
from worker.engine.control.sample_reporter import MAX_REASON_CHARACTERS, SampleReporter, SampleSet
from worker.engine.telemetry.artifact_uploader import ArtifactFile, Receipt
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

SAMPLE_SET = SampleSet(purpose="train", batch=1, policy_version=1, trainer_version=1, folder="train/000001")
WEBM_MAGIC = b"\x1a\x45\xdf\xa3"
PNG_MAGIC = b"\x89PNG"


class FakeUploads:
    """Takes the place of `ArtifactUploader` and `TelemetryClient`: uploads at once, except paths that end in `lost`,
    and keeps the samples that are reported."""

    def __init__(self, lost: str = "nothing") -> None:
        self.files: dict[str, bytes] = {}
        self.reported: tuple[SampleInfo, ...] = ()
        self._lost = lost

    def folder(self, kind: str) -> str:
        return kind

    def submit(self, files: list[ArtifactFile], then: Callable[[list[Receipt]], None], *, num_bytes_held: int) -> None:
        self.num_bytes_held = num_bytes_held
        self.files = {file.path: file.read() for file in files if not file.path.endswith(self._lost)}
        then([Receipt(path, "", len(content)) for path, content in self.files.items()])

    def emit(self, kind: type, **body: Any) -> None:
        self.reported = body["samples"]


def record_of(group: int, images: np.ndarray) -> FragmentRecord:
    """The record of a group in one fragment, not scored yet."""
    return FragmentRecord(
        fragment=Fragment(FragmentKey(Purpose.TRAIN, 1, group, 0), tuple(range(len(images))), 1),
        prompt=Prompt(text="a"),
        prompt_index=group,
        lane="rollout-0",
        seeds=tuple(range(5, 5 + len(images))),
        images=images,
        parts={},
    )


def reported(monkeypatch: pytest.MonkeyPatch, uploads: FakeUploads, images: np.ndarray) -> tuple[SampleInfo, ...]:
    monkeypatch.setattr(ray, "get", lambda reference: reference)
    record = record_of(0, images)
    fragment = record.fragment
    record.scored = ScoredFragment(
        fragment=fragment,
        rewards=(0.1, 0.2),
        parts={"colorfulness": (0.1, 0.2), "ocr": (0.5, None)},
        errors={"ocr": (None, "no text" * 100)},
    )
    reporter(uploads, StoredSamplesSpec()).report(SAMPLE_SET, [record])
    return uploads.reported


def reporter(uploads: FakeUploads, stored: StoredSamplesSpec) -> SampleReporter:
    return SampleReporter(uploads, uploads, fps=8.0, stored=stored)  # type: ignore[arg-type]


def test_a_picture_is_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = FakeUploads()
    infos = reported(monkeypatch, uploads, np.zeros((2, 16, 16, 3), dtype=np.uint8))
    assert [(info.artifact, info.poster) for info in infos] == [
        ("samples/train/000001/000-000.png", ""),
        ("samples/train/000001/000-001.png", ""),
    ]
    assert all(content.startswith(PNG_MAGIC) for content in uploads.files.values())
    first, second = infos
    assert (first.rewards, first.missing) == ({"colorfulness": 0.1, "ocr": 0.5}, {})
    assert second.rewards == {"colorfulness": 0.2}
    assert second.missing["ocr"].startswith("no text") and len(second.missing["ocr"]) == MAX_REASON_CHARACTERS


def test_a_clip_is_a_playable_file_with_a_poster(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = FakeUploads()
    infos = reported(monkeypatch, uploads, np.zeros((2, 5, 16, 16, 3), dtype=np.uint8))
    assert (infos[0].artifact, infos[0].poster) == (
        "samples/train/000001/000-000.webm",
        "samples/train/000001/000-000.png",
    )
    assert uploads.files[infos[0].artifact].startswith(WEBM_MAGIC)
    assert uploads.files[infos[0].poster].startswith(PNG_MAGIC)
    assert uploads.num_bytes_held == 2 * 5 * 16 * 16 * 3


@pytest.mark.parametrize("lost", ["000.webm", "000.png"])
def test_a_clip_that_lacks_its_file_or_poster_is_not_reported(monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    infos = reported(monkeypatch, FakeUploads(lost), np.zeros((2, 5, 16, 16, 3), dtype=np.uint8))
    assert [info.member for info in infos] == [1]


@pytest.mark.parametrize(
    ("num_per_batch", "stored"),
    [
        (6, {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)}),
        (4, {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (3, {(0, 0), (1, 0)}),
        (1, {(0, 0)}),
        (0, set()),
    ],
)
def test_a_batch_stores_as_many_samples_as_its_spec_says_the_first_members_of_each_prompt(
    monkeypatch: pytest.MonkeyPatch, num_per_batch: int, stored: set[tuple[int, int]]
) -> None:
    monkeypatch.setattr(ray, "get", lambda reference: reference)
    records = [record_of(group, np.zeros((3, 16, 16, 3), dtype=np.uint8)) for group in range(2)]
    for record in records:
        record.scored = ScoredFragment(fragment=record.fragment, rewards=(0.1, 0.2, 0.3), parts={}, errors={})
    uploads = FakeUploads()
    reporter(uploads, StoredSamplesSpec(num_per_batch=num_per_batch)).report(SAMPLE_SET, records)
    assert {(info.prompt_index, info.member) for info in uploads.reported} == stored
