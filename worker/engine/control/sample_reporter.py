"""Reports samples of a run: pictures and clips are encoded and uploaded in the background, then one `samples` event is
emitted.

Of a batch with more samples than the spec stores the first members of each prompt are stored, so that the grid of
prompt × member has no gaps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import ray

from worker.contracts.events import SamplesEvent
from worker.contracts.sample_reports import SampleInfo
from worker.contracts.stored_samples import NUM_HELD_OUT_SAMPLES, StoredSamplesSpec
from worker.engine.control.fragment_store import FragmentRecord
from worker.engine.telemetry.artifact_uploader import ArtifactFile, ArtifactUploader, Receipt
from worker.engine.telemetry.media import (
    CLIP_ENDING,
    PICTURE_ENDING,
    encode_clip,
    encode_png,
    encode_poster,
    is_clip,
)
from worker.engine.telemetry.telemetry_client import TelemetryClient

MAX_REASON_CHARACTERS = 300
"""The most characters reported of the reason for a missing score; the reward lane's log holds all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSet:
    """What the samples of one event have in common."""

    purpose: Literal["train", "evaluate", "request"]
    batch: int
    policy_version: int
    """The version that generated the samples."""
    trainer_version: int
    """The trainer's version when it trains on the samples."""
    folder: str
    """The artifact path of the samples, below the folder of all samples."""


class SampleReporter:
    def __init__(
        self, client: TelemetryClient, uploader: ArtifactUploader, *, fps: float, stored: StoredSamplesSpec
    ) -> None:
        """Upload with `uploader`, then emit events with `client`; `fps` is the frame rate of clips."""
        self._client = client
        self._uploader = uploader
        self._fps = fps
        self._num_training = stored.num_per_batch
        self._num_held_out = max(NUM_HELD_OUT_SAMPLES, stored.num_per_batch)

    def report(
        self,
        shown: SampleSet,
        records: Sequence[FragmentRecord],
        advantages: Mapping[tuple[int, int], float] | None = None,
    ) -> None:
        """Upload a bounded grid of the scored `records`; `advantages` are by (group, member)."""
        bound = self._num_training if shown.purpose == "train" else self._num_held_out
        if bound == 0:
            return
        num_groups = len({record.fragment.key.group for record in records})
        num_members = max(1, bound // num_groups)
        folder = f"{self._uploader.folder('samples')}/{shown.folder}"
        files: list[ArtifactFile] = []
        num_bytes = 0
        infos: list[SampleInfo] = []
        for record in records:
            if len(infos) >= bound:
                break
            images = ray.get(record.images)
            num_bytes += images.nbytes
            for index, member in enumerate(record.fragment.members):
                if member < num_members:
                    path = f"{folder}/{record.fragment.key.group:03d}-{member:03d}"
                    artifacts = self._artifacts(path, images[index])
                    files += artifacts
                    infos.append(_describe(shown, record, index, advantages or {}, [each.path for each in artifacts]))
        self._uploader.submit(files, partial(self._report, shown, infos), num_bytes_held=num_bytes)

    def _artifacts(self, path: str, sample: np.ndarray) -> list[ArtifactFile]:
        """The files of one sample at `path` without its ending: the picture, or the clip and then its poster."""
        if not is_clip(sample):
            return [ArtifactFile(f"{path}.{PICTURE_ENDING}", partial(encode_png, sample))]
        return [
            ArtifactFile(f"{path}.{CLIP_ENDING}", partial(encode_clip, sample, self._fps)),
            ArtifactFile(f"{path}.{PICTURE_ENDING}", partial(encode_poster, sample)),
        ]

    def _report(self, shown: SampleSet, infos: Sequence[SampleInfo], receipts: list[Receipt]) -> None:
        stored = {receipt.path for receipt in receipts}
        self._client.emit(
            SamplesEvent,
            purpose=shown.purpose,
            batch=shown.batch,
            policy_version=shown.policy_version,
            samples=tuple(info for info in infos if stored.issuperset(filter(None, (info.artifact, info.poster)))),
        )


def _describe(
    shown: SampleSet,
    record: FragmentRecord,
    index: int,
    advantages: Mapping[tuple[int, int], float],
    artifacts: Sequence[str],
) -> SampleInfo:
    """What is reported of the sample at `index` in its fragment; `artifacts` are its path and that of its poster."""
    assert record.scored is not None, "only scored fragments are shown"
    group, member = record.fragment.key.group, record.fragment.members[index]
    return SampleInfo(
        prompt=record.prompt.text,
        prompt_id=record.prompt.id,
        prompt_index=record.prompt_index,
        member=member,
        seed=record.seeds[index],
        artifact=artifacts[0],
        poster=artifacts[1] if len(artifacts) > 1 else "",
        rewards={name: part[index] for name, part in record.scored.parts.items() if part[index] is not None},
        missing={
            name: error[:MAX_REASON_CHARACTERS]
            for name, errors in record.scored.errors.items()
            if (error := errors[index]) is not None
        },
        reward=None if index in record.scored.unrewarded else record.scored.rewards[index],
        advantage=advantages.get((group, member)),
        staleness=shown.trainer_version - record.fragment.policy_version,
        lane=record.lane,
    )
