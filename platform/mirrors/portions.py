"""The next portion of a run's stored stream that a mirror has not had: metrics, samples, and where the run went back.

Invariant: a portion ends before anything that is still awaited, the bytes of a picture above all, so that nothing is
passed over; what a resume superseded before it was mirrored is left out.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from gallery import storage
from gallery.models import Artifact
from mirrors.backends.session_words import Metrics, Picture, Record, Resumed, Samples
from mirrors.models import MirroredRun
from runs.models import Run
from telemetry.models import StreamItem
from telemetry.unreadable import readable
from worker.contracts.sample_reports import SampleInfo
from worker.contracts.states import END_STATES

MIRRORED_TYPES = ("metrics", "samples", "resumed")
MAX_ITEMS = 500
"""Of one session: some 200 batches. The events of their samples are 20 MB at most of what runs usually store."""
MAX_PICTURES = 256
"""Of one session, but for an item that alone has more: some 200 MiB of 512 × 512 pixels."""
WAIT_FOR_BYTES_SECONDS = 600.0
"""A picture that is not stored so long after its event is left out: a driver repeats an upload for a shorter time."""


@dataclass(frozen=True, slots=True)
class Portion:
    records: Sequence[Record]
    up_to_seq: int
    batch: int
    """The newest batch of the records; 0 for none."""
    num_pictures_missing: int
    is_cut: bool
    """Whether more could be written at once."""
    ending: str
    """The state in which the run ended, if this portion is its last; else empty."""


def next_portion(row: MirroredRun, folder: Path) -> Portion:
    """At most `MAX_ITEMS` items after the row's; the bytes of their pictures are copied into `folder`."""
    # Read before the items: whatever came before an end is then among them.
    run = Run.objects.only("state").get(pk=row.run_id)
    has_ended = run.run_state in END_STATES
    rows = StreamItem.objects.filter(run_id=row.run_id, type__in=MIRRORED_TYPES, stream_seq__gt=row.after_seq)
    read = list(rows.order_by("stream_seq")[:MAX_ITEMS])
    items = list(readable(read))
    taken, num_missing, is_waiting = _with_bytes(row.run_id, items, gives_up_waiting=has_ended)
    records = _still_valid([_record(item, pictures) for item, pictures in taken])
    for record in records:
        if record["type"] == "samples":
            _copy(record["pictures"], folder)
    is_all = len(taken) == len(items) and len(read) < MAX_ITEMS
    past = read[-1].stream_seq if read else row.after_seq
    return Portion(
        records=records,
        # Past what was skipped, too, unless something before it is awaited.
        up_to_seq=past if len(taken) == len(items) else taken[-1][0].stream_seq if taken else row.after_seq,
        batch=max((record["batch"] for record in records), default=0),
        num_pictures_missing=num_missing,
        is_cut=not (is_all or is_waiting),
        ending=run.state if has_ended and is_all else "",
    )


_Taken = list[tuple[StreamItem, list[Picture]]]


def _with_bytes(run_id: UUID, items: Sequence[StreamItem], *, gives_up_waiting: bool) -> tuple[_Taken, int, bool]:
    """The items up to the first one whose pictures are awaited, each with its pictures, whose `file` is still a key of
    the storage; how many pictures are missing for good; and whether some are awaited."""
    stored = _stored_pictures(run_id, items)
    taken: _Taken = []
    num_pictures = num_missing = 0
    for item in items:
        samples = _samples_of(item)
        if taken and num_pictures + len(samples) > MAX_PICTURES:
            break
        found = [
            _picture(sample, stored[item.attempt, path])
            for sample in samples
            if (item.attempt, path := sample.poster or sample.artifact) in stored
        ]
        if len(found) < len(samples):
            if not gives_up_waiting and time.time() - item.at < WAIT_FOR_BYTES_SECONDS:
                return taken, num_missing, True
            num_missing += len(samples) - len(found)
        num_pictures += len(found)
        taken.append((item, found))
    return taken, num_missing, False


def _stored_pictures(run_id: UUID, items: Sequence[StreamItem]) -> Mapping[tuple[int, str], str]:
    """The keys of the storage by attempt and path."""
    paths = {sample.poster or sample.artifact for item in items for sample in _samples_of(item)}
    rows = Artifact.objects.filter(run_id=run_id, path__in=paths)
    return {(attempt, path): key for attempt, path, key in rows.values_list("attempt", "path", "storage_key")}


def _samples_of(item: StreamItem) -> list[SampleInfo]:
    return [SampleInfo.model_validate(one) for one in item.body["samples"]] if item.type == "samples" else []


def _picture(sample: SampleInfo, key: str) -> Picture:
    reward = "" if sample.reward is None else f" · {sample.reward:.3g}"
    name = f"prompt-{sample.prompt_index:03d}-{sample.member}"
    return {"file": key, "name": name, "caption": f"{sample.prompt}{reward}"}


def _record(item: StreamItem, pictures: list[Picture]) -> Record:
    batch, seq, at = item.body["batch"], item.stream_seq, item.at
    if item.type == "metrics":
        values, step = item.body["values"], item.body["optimizer_step"]
        return Metrics(type="metrics", seq=seq, at=at, batch=batch, optimizer_step=step, values=values)
    if item.type == "samples":
        purpose = item.body["purpose"]
        return Samples(type="samples", seq=seq, at=at, batch=batch, purpose=purpose, pictures=pictures)
    return Resumed(type="resumed", seq=seq, at=at, batch=batch)


def _still_valid(records: Sequence[Record]) -> list[Record]:
    """Without what a resume among them superseded; the resumes stay, for what was mirrored before."""
    valid: list[Record] = []
    for record in records:
        if record["type"] == "resumed":
            valid = [
                earlier for earlier in valid if earlier["type"] == "resumed" or earlier["batch"] <= record["batch"]
            ]
        valid.append(record)
    return valid


def _copy(pictures: list[Picture], folder: Path) -> None:
    contents = storage.read_all([picture["file"] for picture in pictures])
    for picture in pictures:
        key = picture["file"]
        file = folder / key.replace("/", "_")
        file.write_bytes(contents[key])
        picture["file"] = str(file)
