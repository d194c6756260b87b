"""The masks of a shared box are read as the vendors' libraries read them."""

from collections.abc import Mapping

import pytest

from worker.contracts.device_masks import AmbiguousMaskError, visible_devices
from worker.contracts.node_reports import GpuIdentity, Vendor


def card(index: int, *, model: str = "NVIDIA H100 80GB HBM3", vendor: Vendor = Vendor.NVIDIA) -> GpuIdentity:
    return GpuIdentity(uuid=f"GPU-{index}{index}aa", index=index, vendor=vendor, model=model)


def mig_slice(number: int, *, index: int) -> GpuIdentity:
    return card(index).model_copy(update={"uuid": f"MIG-{number}", "parent_uuid": f"GPU-{index}{index}aa"})


FOUR = [card(index) for index in range(4)]
CUT = [card(0), mig_slice(7, index=1), mig_slice(8, index=1)]


def left(devices: list[GpuIdentity], environment: Mapping[str, str]) -> list[str]:
    return [device.uuid.removeprefix("GPU-")[:1] for device in visible_devices(devices, environment)]


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (None, "0123"),
        ("", ""),
        ("-1", ""),
        ("NoDevFiles", ""),
        ("2,3", "23"),
        (" 3 , 1 ", "13"),
        ("GPU-22aa", "2"),
        ("gpu-2", "2"),
        ("1,GPU-33aa", "13"),
        ("0,9,1", "0"),
        ("0,-1,1", "0"),
    ],
)
def test_cudas_mask_is_numbers_or_uuids_up_to_the_first_that_is_no_device(mask: str | None, expected: str) -> None:
    assert "".join(left(FOUR, {} if mask is None else {"CUDA_VISIBLE_DEVICES": mask})) == expected


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("0", ["GPU-00aa"]),
        ("1", ["MIG-7", "MIG-8"]),
        ("GPU-11aa", ["MIG-7", "MIG-8"]),
        ("MIG-8", ["MIG-8"]),
        ("MIG-8,0", ["GPU-00aa", "MIG-8"]),
    ],
)
def test_a_card_in_slices_is_named_as_a_whole_or_slice_by_slice(mask: str, expected: list[str]) -> None:
    assert [device.uuid for device in visible_devices(CUT, {"CUDA_VISIBLE_DEVICES": mask})] == expected


def test_numbers_on_a_node_of_two_models_need_the_order_to_be_said() -> None:
    mixed = [card(0, model="NVIDIA L40S"), card(1)]
    with pytest.raises(AmbiguousMaskError, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        visible_devices(mixed, {"CUDA_VISIBLE_DEVICES": "0"})
    assert left(mixed, {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == ["0"]
    assert left(mixed, {"CUDA_VISIBLE_DEVICES": "GPU-11aa"}) == ["1"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"ROCR_VISIBLE_DEVICES": "2,3"}, "23"),
        ({"ROCR_VISIBLE_DEVICES": "GPU-22aa"}, "2"),
        ({"ROCR_VISIBLE_DEVICES": "2,3", "HIP_VISIBLE_DEVICES": "1"}, "3"),
        ({"ROCR_VISIBLE_DEVICES": "2,3", "CUDA_VISIBLE_DEVICES": "0"}, "2"),
        ({"HIP_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "0"}, "1"),
        ({"CUDA_VISIBLE_DEVICES": "0"}, "0"),
        ({"ASCEND_RT_VISIBLE_DEVICES": ""}, "0123"),
    ],
)
def test_amds_second_mask_counts_what_the_first_leaves(environment: dict[str, str], expected: str) -> None:
    cards = [card(index, vendor=Vendor.AMD) for index in range(4)]
    assert "".join(left(cards, environment)) == expected


def test_ascends_mask_hides_nothing_of_other_vendors() -> None:
    mixed = [card(0), card(4, vendor=Vendor.ASCEND), card(5, vendor=Vendor.ASCEND)]
    assert left(mixed, {"ASCEND_RT_VISIBLE_DEVICES": "5"}) == ["0", "5"]
