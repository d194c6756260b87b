"""A lane on an accelerator uses its share of the node's cores, one on a CPU a single thread."""

import os
from pathlib import Path

import pytest

from worker.engine.devices.cpu_threads import num_accelerators, threads_of_lane, threads_of_scoring, usable_cores
from worker.engine.devices.visibility import INHERITED_VARIABLE, VISIBILITY_VARIABLES, see_only


@pytest.fixture
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


def quota_file(folder: Path, text: str) -> Path:
    path = folder / "cpu.max"
    path.write_text(text)
    return path


def device_files(folder: Path, *names: str) -> Path:
    (folder / "dri").mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max 100000", 16), ("800000 100000", 8), ("50000 100000", 1), ("6400000 100000", 16), ("", 16)],
    ids=str,
)
def test_cores_beyond_a_containers_quota_are_not_counted(
    sixteen_cores: None, tmp_path: Path, text: str, expected: int
) -> None:
    assert usable_cores(quota_file(tmp_path, text)) == expected


def test_the_cards_of_the_node_are_counted_and_nothing_beside_them(tmp_path: Path) -> None:
    eight = [f"nvidia{index}" for index in range(8)]
    files = device_files(tmp_path, *eight, "nvidiactl", "nvidia-uvm", "dri/renderD128", "dri/card0")
    assert num_accelerators(files) == 8
    assert num_accelerators(tmp_path / "nothing") == 0


def test_lanes_on_accelerators_share_the_cores_and_never_have_none(sixteen_cores: None, tmp_path: Path) -> None:
    no_quota = quota_file(tmp_path, "max 100000")
    two = device_files(tmp_path, "dri/renderD128", "dri/renderD129")
    assert threads_of_lane(on_accelerator=True, devices=two, quota=no_quota) == 8
    assert threads_of_lane(on_accelerator=False, devices=two, quota=no_quota) == 1
    many = device_files(tmp_path, *(f"nvidia{index}" for index in range(40)))
    assert threads_of_lane(on_accelerator=True, devices=many, quota=no_quota) == 1


@pytest.mark.parametrize(("device", "expected"), [("cpu", "1"), ("0", "16")], ids=str)
def test_a_lanes_threads_follow_from_its_device(
    sixteen_cores: None, monkeypatch: pytest.MonkeyPatch, device: str, expected: str
) -> None:
    monkeypatch.setattr("worker.engine.devices.visibility.threads_of_lane", _of_a_node_with_one_card)
    for variable in (*VISIBILITY_VARIABLES, INHERITED_VARIABLE):
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    for variable in ("OMP_NUM_THREADS", "CUDA_DEVICE_ORDER", "DS_ACCELERATOR"):
        monkeypatch.setenv(variable, "")
    see_only(device)
    assert os.environ["OMP_NUM_THREADS"] == expected


def _of_a_node_with_one_card(*, on_accelerator: bool) -> int:
    return threads_of_lane(on_accelerator=on_accelerator, devices=Path("/nowhere"), quota=Path("/nowhere"))


def test_a_lane_that_scores_without_an_accelerator_gets_half_of_the_cores_where_others_have_one(
    sixteen_cores: None, tmp_path: Path
) -> None:
    quota = quota_file(tmp_path, "max 100000")
    assert threads_of_scoring(devices=tmp_path, quota=quota) == 1, "CPU lanes share the cores of the node"
    assert threads_of_scoring(devices=device_files(tmp_path, "nvidia0"), quota=quota) == 8
