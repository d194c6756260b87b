"""Writes a run as one TensorBoard event file, by batch; a resumed run's later batches replace the earlier ones.

Invariant: the file is cut to the length that the last answer kept before anything is added, so that a session that
died leaves nothing behind, and nothing stands there twice.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import yaml
from PIL import Image
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.record_writer import RecordWriter

from mirrors.backends.session_words import Answer, Job, MirroredRunFacts, Record, Samples

FILE_VERSION = "brain.Event:2"
"""The format's version, which a file begins with."""


def write(job: Job) -> Answer:
    """Append the records. Raises `ValueError` for a file that was shortened meanwhile."""
    run, length = job["run"], job["kept"].get("num_bytes", 0)
    folder = Path(job["folder"], run["label"])
    folder.mkdir(parents=True, exist_ok=True)
    # TensorBoard reads files whose names hold "tfevents", in the order of the time that follows.
    path = folder / f"events.out.tfevents.{int(run['started_at'])}.tandem"
    with path.open("r+b" if path.exists() else "w+b") as file:
        found = file.seek(0, os.SEEK_END)
        if found < length:
            raise ValueError(f"{path.name} holds {found} bytes and not the {length} written: mirror from the beginning")
        file.truncate(length)
        file.seek(length)
        length += _append(file, job, is_new=length == 0)
        file.flush()
        os.fsync(file.fileno())
    return {"url": "", "kept": {"num_bytes": length}, "num_pictures_left_out": 0}


def _append(file: BinaryIO, job: Job, *, is_new: bool) -> int:
    begin, records = file.tell(), RecordWriter(file)
    if is_new:
        records.write(Event(wall_time=job["run"]["started_at"], file_version=FILE_VERSION).SerializeToString())
        records.write(_settings(job["run"]).SerializeToString())
    for record in job["records"]:
        records.write(_event(record).SerializeToString())
    return file.tell() - begin


def _event(record: Record) -> Event:
    if record["type"] == "resumed":
        # Readers drop what they have of this step and later ones.
        start = SessionLog(status=SessionLog.START)
        return Event(wall_time=record["at"], step=record["batch"] + 1, session_log=start)
    if record["type"] == "metrics":
        values = [Summary.Value(tag=key, simple_value=value) for key, value in record["values"].items()]
    else:
        values = list(_images(record))
    return Event(wall_time=record["at"], step=record["batch"], summary=Summary(value=values))


def _images(record: Samples) -> Iterator[Summary.Value]:
    for picture in record["pictures"]:
        with Image.open(picture["file"]) as opened:
            width, height = opened.size
            num_channels = len(opened.getbands())
        image = Summary.Image(
            width=width,
            height=height,
            colorspace=num_channels,
            encoded_image_string=Path(picture["file"]).read_bytes(),
        )
        yield Summary.Value(tag=f"samples/{record['purpose']}/{picture['name']}", image=image)


def _settings(run: MirroredRunFacts) -> Event:
    """The run's page and its spec, as a text that TensorBoard draws as Markdown."""
    spec = yaml.safe_dump(run["spec"], sort_keys=False, allow_unicode=True)
    text = f"[{run['name']}]({run['url']})\n\n```yaml\n{spec}```\n"
    value = Summary.Value(
        tag="spec",
        metadata=SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text")),
        tensor=TensorProto(dtype=DT_STRING, tensor_shape=TensorShapeProto(), string_val=[text.encode()]),
    )
    return Event(wall_time=run["started_at"], summary=Summary(value=[value]))
