"""The pictures and clips a run shows: encoded and uploaded in the background, then told as one `samples` event.

Small runs show all their samples; of a large batch each prompt shows its first members, so that the grid of prompt ×
member stays whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import ray

from worker.contracts.events import SampleInfo, SamplesEvent
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

MAX_TRAINING_SAMPLES = 24
"""Each picture is a request to the web, which shares the machine in small set-ups."""
MAX_HELD_OUT_SAMPLES = 48
"""Before and after are compared by eye, and evaluations are rare: show more of them."""

MAX_REASON_CHARS = 300
"""Of why a score is missing: the whole is in the reward lane's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSet:
    """What the pictures of one event have in common. `folder` is their place among the artifacts."""

    purpose: Literal["train", "evaluate", "request"]
    batch: int
    policy_version: int
    trainer_version: int
    folder: str


class SampleReporter:
    def __init__(self, client: TelemetryClient, uploader: ArtifactUploader, *, fps: float) -> None:
        """`fps`: frames per second at which clips play."""
        self._client = client
        self._uploader = uploader
        self._fps = fps
        self.life = 0
        """Times this attempt went back to a checkpoint: pictures made again get addresses of their own."""

    def report(
        self,
        shown: SampleSet,
        records: Sequence[FragmentRecord],
        advantages: Mapping[tuple[int, int], float] | None = None,
    ) -> None:
        """Upload a bounded grid of the scored `records`; `advantages` are by (group, member)."""
        bound = MAX_TRAINING_SAMPLES if shown.purpose == "train" else MAX_HELD_OUT_SAMPLES
        num_groups = len({record.fragment.key.group for record in records})
        num_members = max(1, bound // num_groups)
        folder = f"{artifact_folder('samples', self.life)}/{shown.folder}"
        files: list[ArtifactFile] = []
        num_bytes = 0
        infos: list[SampleInfo] = []
        for record in records:
            if len(infos) >= bound:
                break
            images = ray.get(record.images)
            num_bytes += images.nbytes
            for place, member in enumerate(record.fragment.members):
                if member < num_members:
                    path = f"{folder}/{record.fragment.key.group:03d}-{member:03d}"
                    artifacts = self._artifacts(path, images[place])
                    files += artifacts
                    infos.append(_describe(shown, record, place, advantages or {}, [each.path for each in artifacts]))
        self._uploader.submit(files, partial(self._report, shown, infos), num_bytes_held=num_bytes)

    def _artifacts(self, path: str, sample: np.ndarray) -> list[ArtifactFile]:
        """The files of one sample, itself first; `path` lacks the ending."""
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
    place: int,
    advantages: Mapping[tuple[int, int], float],
    artifacts: Sequence[str],
) -> SampleInfo:
    """The facts of the sample at `place` within its fragment; `artifacts` are its path and that of its poster."""
    assert record.scored is not None, "only scored fragments are shown"
    group, member = record.fragment.key.group, record.fragment.members[place]
    return SampleInfo(
        prompt=record.prompt,
        prompt_index=record.prompt_index,
        member=member,
        seed=record.seeds[place],
        artifact=artifacts[0],
        poster=artifacts[1] if len(artifacts) > 1 else "",
        rewards={name: part[place] for name, part in record.scored.parts.items() if part[place] is not None},
        missing={
            name: error[:MAX_REASON_CHARS]
            for name, errors in record.scored.errors.items()
            if (error := errors[place]) is not None
        },
        reward=None if place in record.scored.unrewarded else record.scored.rewards[place],
        advantage=advantages.get((group, member)),
        staleness=shown.trainer_version - record.fragment.policy_version,
        lane=record.lane,
    )


def artifact_folder(kind: str, life: int) -> str:
    """Where artifacts of a kind go. The web never lets an address change its bytes, and a rewind may change them."""
    return kind if life == 0 else f"{kind}/rewind-{life}"
