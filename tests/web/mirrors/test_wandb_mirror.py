"""A run in W&B, offline: its files, read back as records of W&B's own kind."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from wandb.proto.wandb_internal_pb2 import Record

from catalog.models import MirrorKind
from mirrors.models import MirroringState
from runs.transitions import move
from tests.web.mirrors.conftest import Driver, MakeMirror, Points, round_killed_when, round_now, stored_points
from worker.contracts.states import RunState

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


HEADER_BYTES, BLOCK_BYTES, CHUNK_HEADER_BYTES = 7, 32_768, 7
"""Of W&B's transaction log: LevelDB's log format (blocks of chunks: checksum, length, type) after a header."""
WHOLE, FIRST, LAST = 1, 2, 4
"""Types of chunk; the one between them is a middle one."""


def chunks(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and content of each chunk."""
    place = HEADER_BYTES
    while place + CHUNK_HEADER_BYTES <= len(log):
        left = BLOCK_BYTES - place % BLOCK_BYTES
        if left < CHUNK_HEADER_BYTES:
            place += left
            continue
        length, kind = struct.unpack_from("<HB", log, place + 4)
        place += CHUNK_HEADER_BYTES
        yield kind, log[place : place + length]
        place += length


def records(folder: Path) -> list[Record]:
    """Every record in the files of the run, in the order in which `wandb sync` takes them."""
    found, parts = [], b""
    for path in sorted((folder / "wandb").glob("*/shapes/wandb/offline-run-*/*.wandb")):
        for kind, content in chunks(path.read_bytes()):
            parts = content if kind in (WHOLE, FIRST) else parts + content
            if kind in (WHOLE, LAST):
                found.append(Record.FromString(parts))
    return found


def history(folder: Path) -> list[dict[str, Any]]:
    return [
        {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        for record in records(folder)
        if record.WhichOneof("record_type") == "history"
    ]


def points(rows: list[dict[str, Any]], wanted: Points) -> Points:
    keys = {key for key, _, _ in wanted}
    return {(key, row["batch"], row[key]) for row in rows for key in keys & row.keys()}


def test_a_run_is_in_wandbs_files_as_it_is_stored_and_a_killed_session_doubles_nothing(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_mirror(MirrorKind.WANDB_OFFLINE)
    driver.train(1, 2)
    contents = driver.upload(driver.sample(2))
    assert round_now().error == ""
    driver.train(3)
    written = tmp_path / "wandb"
    num_before = len(list(written.rglob("*.wandb")))
    row = round_killed_when(lambda: len(list(written.rglob("*.wandb"))) > num_before, monkeypatch)
    assert (row.batch, row.num_failures) == (2, 1)
    driver.train(4)
    move(driver.run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="all done", actor="driver")
    assert round_now().state == MirroringState.DONE

    rows, wanted = history(tmp_path), stored_points(driver.run)
    assert points(rows, wanted) == wanted
    assert [row["batch"] for row in rows if "reward/mean" in row] == [1, 2, 3, 4]
    steps = [row["_step"] for row in rows]
    assert steps == sorted(set(steps))
    assert {row["_timestamp"] // 1000 for row in rows} == {1.7e6 + 1}
    (captions,) = [row["samples/evaluate/captions"] for row in rows if "samples/evaluate/captions" in row]
    assert captions == ["a red square · 0.5"] * 2
    (media,) = written.glob("*/shapes/wandb/offline-run-*/files/media")
    assert sorted(path.read_bytes() for path in media.rglob("*.png")) == sorted(contents)
    runs = [record.run for record in records(tmp_path) if record.WhichOneof("record_type") == "run"]
    assert {(run.run_id, run.project, run.display_name) for run in runs} == {
        (driver.run.pk.hex, "shapes", "Red squares")
    }
    settings = {item.key: json.loads(item.value_json) for item in runs[0].config.update}
    assert settings["batch"] == driver.run.spec["batch"]
