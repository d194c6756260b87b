"""A lane sees its own device, named so that an inherited mask cannot make it another one."""

import os
from pathlib import Path

import pytest

from worker.engine.devices.visibility import (
    INHERITED_VARIABLE,
    VISIBILITY_VARIABLES,
    HiddenDeviceError,
    see_only,
)

NVIDIA_UUID = "GPU-5a8c1de3-0c1f-4f6e-9d6b-2f6a7f1f0c11"
OTHER_UUID = "GPU-77777777-0c1f-4f6e-9d6b-2f6a7f1f0c11"
SLICE_UUID = "MIG-5a8c1de3-0c1f-4f6e-9d6b-2f6a7f1f0c22"
AMD_UUID = "GPU-00000000deadbeef"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*VISIBILITY_VARIABLES, INHERITED_VARIABLE):
        monkeypatch.setenv(variable, "restored afterwards")
        monkeypatch.delenv(variable)
    for variable in ("OMP_NUM_THREADS", "CUDA_DEVICE_ORDER", "DS_ACCELERATOR"):
        monkeypatch.setenv(variable, "")


def masks() -> dict[str, str]:
    return {name: os.environ[name] for name in VISIBILITY_VARIABLES if name in os.environ}


@pytest.mark.parametrize("inherited", [None, "2,3", f"{OTHER_UUID},{NVIDIA_UUID}", "GPU-5a8c"])
def test_a_uuid_passes_through_a_mask_that_has_it(inherited: str | None, tmp_path: Path) -> None:
    if inherited is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = inherited
    see_only(NVIDIA_UUID, files=tmp_path)
    assert masks() == {"CUDA_VISIBLE_DEVICES": NVIDIA_UUID}
    assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


@pytest.mark.parametrize(("inherited", "device"), [("GPU-5a8c", SLICE_UUID), ("MIG-5a8c", SLICE_UUID), ("1", "1")])
def test_a_slice_passes_by_its_card_and_a_number_by_itself(inherited: str, device: str, tmp_path: Path) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = inherited
    see_only(device, files=tmp_path)
    assert masks() == {"CUDA_VISIBLE_DEVICES": device}


@pytest.mark.parametrize(
    ("inherited", "device"),
    [("2,3", "0"), (OTHER_UUID, NVIDIA_UUID), ("", NVIDIA_UUID), ("", "0"), (NVIDIA_UUID, "0"), ("2,3", "2,4")],
)
def test_a_device_that_the_mask_hides_is_refused_and_the_mask_left_alone(
    inherited: str, device: str, tmp_path: Path
) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = inherited
    with pytest.raises(HiddenDeviceError, match="CUDA_VISIBLE_DEVICES"):
        see_only(device, files=tmp_path)
    assert masks() == {"CUDA_VISIBLE_DEVICES": inherited}


def test_amds_masks_become_the_one_that_takes_uuids(tmp_path: Path) -> None:
    os.environ.update(HIP_VISIBLE_DEVICES="1", CUDA_VISIBLE_DEVICES="1")
    see_only(AMD_UUID, files=tmp_path)
    assert masks() == {"ROCR_VISIBLE_DEVICES": AMD_UUID}


def test_a_number_goes_to_the_vendor_whose_driver_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "davinci_manager").touch()
    os.environ["ASCEND_RT_VISIBLE_DEVICES"] = "4,5"
    with pytest.raises(HiddenDeviceError, match="ASCEND_RT_VISIBLE_DEVICES"):
        see_only("0", files=tmp_path)
    see_only("5", files=tmp_path)
    assert masks() == {"ASCEND_RT_VISIBLE_DEVICES": "5"}


def test_what_a_process_starts_is_held_against_the_first_mask(tmp_path: Path) -> None:
    """A test of two GPUs sees one and starts a process for the other."""
    os.environ["CUDA_VISIBLE_DEVICES"] = f"{NVIDIA_UUID},{OTHER_UUID}"
    see_only(NVIDIA_UUID, files=tmp_path)
    see_only(OTHER_UUID, files=tmp_path)
    assert masks() == {"CUDA_VISIBLE_DEVICES": OTHER_UUID}


def test_a_cpu_lane_sees_no_device() -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = "2,3"
    see_only("cpu")
    assert set(masks().values()) == {""}
