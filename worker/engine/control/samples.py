"""The pictures a run shows: encoded and uploaded in the background, then told as one `samples` event.

Small runs show all their pictures; of a large batch each prompt shows its first members, so that the grid of prompt ×
member stays whole.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import ray
from PIL import Image

from worker.contracts.events import SampleInfo, SamplesEvent
from worker.engine.control.fragments import FragmentRecord
from worker.engine.telemetry.artifacts import ArtifactFile, ArtifactUploader, Receipt
from worker.engine.telemetry.client import TelemetryClient

MAX_TRAINING_SAMPLES = 24
"""Each picture is a request to the web, which shares the machine in small set-ups."""
MAX_HELD_OUT_SAMPLES = 48
"""Before and after are compared by eye, and evaluations are rare: show more of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSet:
    """What the pictures of one event have in common. `folder` is their place among the artifacts."""

    purpose: Literal["train", "evaluate", "request"]
    batch: int
    policy_version: int
    trainer_version: int
    folder: str


class SampleReporter:
    def __init__(self, client: TelemetryClient, uploader: ArtifactUploader) -> None:
        self._client = client
        self._uploader = uploader
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
        files: list[ArtifactFile] = []
        infos: list[SampleInfo] = []
        for record in records:
            if len(infos) >= bound:
                break
            images = ray.get(record.images)
            for place, member in enumerate(record.fragment.members):
                if member < num_members:
                    info = _describe(
                        shown, record, place, advantages or {}, folder=artifact_folder("samples", self.life)
                    )
                    files.append(ArtifactFile(info.artifact, partial(encode_png, images[place])))
                    infos.append(info)
        self._uploader.submit(files, partial(self._tell, shown, infos))

    def _tell(self, shown: SampleSet, infos: Sequence[SampleInfo], receipts: list[Receipt]) -> None:
        stored = {receipt.path for receipt in receipts}
        self._client.emit(
            SamplesEvent,
            purpose=shown.purpose,
            batch=shown.batch,
            policy_version=shown.policy_version,
            samples=tuple(info for info in infos if info.artifact in stored),
        )


def _describe(
    shown: SampleSet,
    record: FragmentRecord,
    place: int,
    advantages: Mapping[tuple[int, int], float],
    *,
    folder: str,
) -> SampleInfo:
    """The facts of the picture at `place` within its fragment."""
    assert record.scored is not None, "only scored fragments are shown"
    group, member = record.fragment.key.group, record.fragment.members[place]
    return SampleInfo(
        prompt=record.prompt,
        prompt_index=record.prompt_index,
        member=member,
        seed=record.seeds[place],
        artifact=f"{folder}/{shown.folder}/{group:03d}-{member:03d}.png",
        rewards={name: values[place] for name, values in record.scored.parts.items()},
        reward=None if place in record.scored.unrewarded else record.scored.rewards[place],
        advantage=advantages.get((group, member)),
        staleness=shown.trainer_version - record.fragment.policy_version,
        lane=record.lane,
    )


def artifact_folder(kind: str, life: int) -> str:
    """Where artifacts of a kind go. The web never lets an address change its bytes, and a rewind may change them."""
    return kind if life == 0 else f"{kind}/rewind-{life}"


def encode_png(image: np.ndarray) -> bytes:
    """A picture (H, W, 3) uint8 as PNG bytes."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, format="PNG")
    return buffer.getvalue()
