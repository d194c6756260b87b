"""The GPUs that `manage.py up` makes lanes for."""

from pathlib import Path

import pytest

from server.embedded.gpus import local_gpus
from server.errors import CannotStartError

PRINTED = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00aa)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-11aa)
  MIG 1g.10gb     Device  0: (UUID: MIG-77)
  MIG 1g.10gb     Device  1: (UUID: MIG-88)
GPU 2: {third} (UUID: GPU-22aa)
"""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for variable in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "TANDEM_NUM_GPUS"):
        monkeypatch.delenv(variable, raising=False)
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{PRINTED.format(third='NVIDIA H100 80GB HBM3')}END\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tool


@pytest.mark.parametrize(
    ("mask", "number", "expected"),
    [
        (None, None, (0, 1, 2)),
        ("1,2", None, (1, 2)),
        ("1,2", "1", (1,)),
        ("MIG-88", None, (1,)),
        ("GPU-22", None, (2,)),
        ("", None, ()),
        (None, "2", (0, 1)),
    ],
)
def test_lanes_are_for_the_cards_that_the_mask_leaves(
    driver: Path, mask: str | None, number: str | None, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mask is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", mask)
    if number is not None:
        monkeypatch.setenv("TANDEM_NUM_GPUS", number)
    assert local_gpus().indices == expected


def test_numbers_that_cuda_counts_by_speed_stop_the_start(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver.write_text(driver.read_text().replace("GPU 0: NVIDIA H100 80GB HBM3", "GPU 0: NVIDIA L40S"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with pytest.raises(CannotStartError, match="PCI_BUS_ID"):
        local_gpus()


def test_without_a_driver_the_variable_is_the_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("TANDEM_NUM_GPUS", "2")
    assert local_gpus().indices == (0, 1)
