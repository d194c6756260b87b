"""A run in TensorBoard, read back by its own reader: all of it once, whatever happens between."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mirrors.backends.session_words import ANSWER_FILE
from mirrors.models import MirroringState
from runs.transitions import move
from tests.web.mirrors.conftest import (
    Driver,
    MakeMirror,
    Points,
    round_killed_when,
    round_now,
    stored_points,
)
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db


def read(folder: Path) -> EventAccumulator:
    (path,) = (folder / "tensorboard").glob("*/shapes/*")
    return EventAccumulator(str(path), size_guidance={"scalars": 0, "images": 0, "tensors": 0}).Reload()


def points(found: EventAccumulator) -> Points:
    return {(key, one.step, one.value) for key in found.Tags()["scalars"] for one in found.Scalars(key)}


def in_single_precision(wanted: Points) -> Points:
    """TensorBoard's scalars are 32-bit floats."""
    return {(key, batch, float(np.float32(value))) for key, batch, value in wanted}


def test_metrics_pictures_and_settings_are_there_as_they_are_stored(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path
) -> None:
    make_mirror()
    driver.train(1, 2)
    contents = driver.upload(driver.sample(2))
    row = round_now()
    assert (row.error, row.batch, row.num_pictures_left_out) == ("", 2, 0)
    found = read(tmp_path)
    assert points(found) == in_single_precision(stored_points(driver.run))
    assert found.Tags()["images"] == ["samples/evaluate/prompt-000-0", "samples/evaluate/prompt-000-1"]
    shown = [found.Images(tag)[0] for tag in found.Tags()["images"]]
    assert [(one.step, one.encoded_image_string) for one in shown] == [(2, content) for content in contents]
    assert b"num_prompts_per_batch: 2" in found.Tensors("spec")[0].tensor_proto.string_val[0]


def test_each_round_adds_what_is_new_and_the_last_one_ends_with_the_run(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path
) -> None:
    make_mirror()
    for batch in (1, 2):
        driver.train(batch)
        assert round_now().state == MirroringState.FOLLOWING
    move(driver.run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="all done", actor="driver")
    row = round_now()
    assert (row.state, row.next_at) == (MirroringState.DONE, None)
    found = read(tmp_path)
    assert points(found) == in_single_precision(stored_points(driver.run))
    assert [one.step for one in found.Scalars("reward/mean")] == [1, 2]


def test_a_session_that_is_killed_loses_and_doubles_nothing(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_mirror()
    driver.train(1)
    round_now()
    driver.train(2, 3)
    (path,) = (tmp_path / "tensorboard").glob("*/shapes/*/*")
    length = path.stat().st_size
    row = round_killed_when(lambda: path.stat().st_size > length, monkeypatch)
    assert (row.batch, row.num_failures, path.stat().st_size > length) == (1, 1, True)
    driver.train(4)
    row = round_now()
    assert (row.error, row.num_failures, row.batch) == ("", 0, 4)
    found = read(tmp_path)
    assert points(found) == in_single_precision(stored_points(driver.run))
    assert [one.step for one in found.Scalars("reward/mean")] == [1, 2, 3, 4]


def test_a_session_ends_with_the_process_that_waits_for_it(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody kills it: the round's process was killed itself."""
    make_mirror()
    driver.train(1)

    class Abandoned(subprocess.Popen[bytes]):
        def __init__(self, argv: list[str], *, cwd: Path, **options: Any) -> None:
            os.mkfifo(cwd / ANSWER_FILE)  # so that it cannot end by itself
            super().__init__(argv, cwd=cwd, **options)

        def wait(self, timeout: float | None = None) -> int:
            if timeout is not None:
                assert self.stdin is not None
                self.stdin.close()
            return super().wait(10)

    monkeypatch.setattr("mirrors.sessions.subprocess.Popen", Abandoned)
    assert round_now().error == "its process ended with 1 and said nothing"


def test_batches_that_a_resume_goes_back_behind_are_replaced(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path
) -> None:
    make_mirror()
    driver.train(1, 2, 3)
    round_now()
    driver.train(4)
    driver.begin_next_attempt()
    driver.report({"type": "resumed", "batch": 2, "policy_version": 2, "optimizer_step": 8})
    driver.train(3)
    round_now()
    assert points(read(tmp_path)) == in_single_precision(stored_points(driver.run))


def test_a_picture_that_is_still_being_stored_is_waited_for(
    driver: Driver, make_mirror: MakeMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_mirror()
    monkeypatch.setattr("mirrors.portions.time.time", lambda: 1.7e9 + 1010)
    driver.train(1)
    paths = driver.sample(1)
    driver.train(2)
    assert round_now().batch == 1
    assert points(read(tmp_path)) < in_single_precision(stored_points(driver.run))
    driver.upload(paths)
    row = round_now()
    assert (row.batch, row.num_pictures_left_out) == (2, 0)
    found = read(tmp_path)
    assert points(found) == in_single_precision(stored_points(driver.run))
    assert len(found.Tags()["images"]) == 2


def test_a_picture_that_never_came_is_counted(driver: Driver, make_mirror: MakeMirror, tmp_path: Path) -> None:
    make_mirror()
    driver.sample(1)
    driver.train(2)
    row = round_now()
    assert (row.batch, row.num_pictures_left_out) == (2, 2)
