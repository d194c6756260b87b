"""What the NVML reader makes of a driver's answers: complete cards, partly silent ones, slices and Xids."""

import pynvml

from tests.node.readers.fake_nvml import GIB, FakeCard, FakeNvml, by_uuid, h100s, sliced
from worker.contracts.node_reports import Vendor
from worker.node.readers.nvml import NvmlReader
from worker.node.readers.nvml_values import lowest_bit, pci_address
from worker.node.readers.nvml_xids import MAX_EVENTS_PER_READING

NOT_SUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED


def test_a_card_is_described_in_full() -> None:
    first = NvmlReader(FakeNvml(h100s())).read()[1]
    identity = first.identity
    assert (identity.uuid, identity.index, identity.vendor, identity.model) == (
        "GPU-1",
        1,
        Vendor.NVIDIA,
        "NVIDIA H100 80GB HBM3",
    )
    assert (identity.architecture, identity.compute_capability, identity.memory_bytes) == ("Hopper", "9.0", 80 * GIB)
    assert (identity.pci_address, identity.driver, identity.runtime) == ("0000:1c:00.0", "580.95.05", "CUDA 13.0")
    assert identity.max_sm_clock == 1980
    assert first.topology.numa_node == 1
    assert first.topology.num_nvlinks_up == 18
    assert first.topology.nvlink_peers == ("GPU-0", "GPU-2", "GPU-3")
    live = first.live
    assert (live.utilisation, live.temperature, live.power, live.power_limit) == (0.97, 61, 651.25, 700)
    assert (live.energy_joules, live.sm_clock, live.memory_clock, live.num_processes) == (12345.678, 1980, 2619, 1)
    faults = first.faults
    assert (faults.ecc_corrected, faults.ecc_uncorrected, faults.pcie_replays) == (5, 1, 2)
    assert not faults.is_lost
    assert (faults.xids, faults.throttle_reasons, faults.recovery_action) == ({}, (), "")


def test_the_drivers_own_reserve_is_not_counted_as_used_memory() -> None:
    fake = FakeNvml([FakeCard("GPU-0")])
    assert NvmlReader(fake).read()[0].live.memory_used_bytes == 3 * GIB
    fake.refused["nvmlDeviceGetMemoryInfo"] = NOT_SUPPORTED
    assert NvmlReader(fake).read()[0].identity.memory_bytes is None


def test_remapped_rows_are_those_of_uncorrectable_errors() -> None:
    card = FakeCard("GPU-0", remapped=(7, 3, 1, 0))
    faults = NvmlReader(FakeNvml([card])).read()[0].faults
    assert (faults.remapped_rows, faults.remap_pending, faults.remap_failed) == (3, True, False)
    card.remapped = (7, 3, 0, 1)
    faults = NvmlReader(FakeNvml([card])).read()[0].faults
    assert (faults.remapped_rows, faults.remap_pending, faults.remap_failed) == (3, False, True)


def test_cards_without_spare_rows_report_retired_pages() -> None:
    card = FakeCard("GPU-0", remapped=None, retired=(1, 2), are_pages_pending=True)
    faults = NvmlReader(FakeNvml([card])).read()[0].faults
    assert (faults.remapped_rows, faults.retired_pages, faults.remap_pending) == (None, 3, True)


def test_idling_and_set_clocks_are_no_throttling() -> None:
    idle = pynvml.nvmlClocksEventReasonGpuIdle | pynvml.nvmlClocksEventReasonApplicationsClocksSetting
    card = FakeCard("GPU-0", clocks_event_reasons=idle)
    reader = NvmlReader(FakeNvml([card]))
    assert reader.read()[0].faults.throttle_reasons == ()
    card.clocks_event_reasons = idle | pynvml.nvmlClocksEventReasonHwThermalSlowdown
    assert reader.read()[0].faults.throttle_reasons == ("hardware thermal slowdown",)


def test_fields_have_the_type_that_the_driver_names() -> None:
    unsigned, long = (
        (pynvml.NVML_VALUE_TYPE_UNSIGNED_INT, "uiVal"),
        (pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, "ullVal"),
    )
    card = FakeCard("GPU-0")
    card.fields = {
        pynvml.NVML_FI_DEV_MEMORY_TEMP: (*unsigned, 72),
        pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: (*unsigned, pynvml.NVML_GPU_RECOVERY_ACTION_GPU_RESET),
        pynvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL: (*long, 4),
        pynvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL: (*long, 2**40),
    }
    report = NvmlReader(FakeNvml([card])).read()[0]
    assert report.live.memory_temperature == 72
    assert report.faults.recovery_action == "reset GPU"
    assert report.faults.nvlink_errors == 2**40 + 4


def test_nvlink_traffic_is_the_rate_of_both_directions_by_the_drivers_clock() -> None:
    long = (pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, "ullVal")
    sent, received = pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX
    card = FakeCard("GPU-0", fields={sent: (*long, 1000), received: (*long, 5000)})
    fake = FakeNvml([card])
    reader = NvmlReader(fake)
    assert reader.read()[0].live.nvlink_bytes_per_second is None
    fake.now_us += 2_000_000
    card.fields = {sent: (*long, 4000), received: (*long, 6000)}
    assert reader.read()[0].live.nvlink_bytes_per_second == 4000 / 2 * 1024
    fake.now_us += 2_000_000
    card.fields = {sent: (*long, 10), received: (*long, 10)}
    assert reader.read()[0].live.nvlink_bytes_per_second is None, "a counter that was reset has no rate"


def test_a_link_that_is_down_is_seen_beside_its_peers() -> None:
    cards = h100s(2)
    cards[0].num_links_down = 1
    links = [report.topology.num_nvlinks_up for report in NvmlReader(FakeNvml(cards)).read()]
    assert links == [17, 18]


def test_a_card_without_nvlink_has_no_peers() -> None:
    cards = [FakeCard(f"GPU-{index}", num_links=0) for index in range(2)]
    for report in NvmlReader(FakeNvml(cards)).read():
        assert (report.topology.num_nvlinks_up, report.topology.nvlink_peers) == (None, ())


def test_xids_are_counted_by_card_and_code() -> None:
    cards = h100s(2)
    reader = NvmlReader(FakeNvml(cards))
    reader.read()
    cards[0].xids.extend([13, 45, 45])
    cards[1].xids.append(63)
    assert [report.faults.xids for report in reader.read()] == [{13: 1, 45: 2}, {63: 1}]
    assert [report.faults.xids for report in reader.read()] == [{13: 1, 45: 2}, {63: 1}]


def test_a_storm_of_xids_is_counted_over_several_readings() -> None:
    card = FakeCard("GPU-0")
    reader = NvmlReader(FakeNvml([card]))
    reader.read()
    card.xids.extend([45] * (MAX_EVENTS_PER_READING + 10))
    assert reader.read()[0].faults.xids == {45: MAX_EVENTS_PER_READING}
    assert reader.read()[0].faults.xids == {45: MAX_EVENTS_PER_READING + 10}


def test_a_driver_without_events_is_read_all_the_same() -> None:
    fake = FakeNvml(h100s(1))
    fake.refused["nvmlDeviceRegisterEvents"] = NOT_SUPPORTED
    assert NvmlReader(fake).read()[0].faults.xids == {}


def test_slices_take_the_place_of_their_card() -> None:
    card = sliced(3)
    reader = NvmlReader(FakeNvml([card, *h100s(2)[1:]]))
    reader.read()
    card.xids.append(94)
    reports = by_uuid(reader.read())
    assert sorted(reports) == ["GPU-1", "MIG-0", "MIG-1", "MIG-2"]
    mig = reports["MIG-1"]
    assert (mig.identity.parent_uuid, mig.identity.index, mig.identity.memory_bytes) == ("GPU-0", 0, 10 * GIB)
    assert mig.identity.model.endswith("MIG 1g.10gb")
    assert (mig.live.utilisation, mig.live.memory_used_bytes, mig.live.power) == (None, 0, 651.25)
    assert mig.faults.xids == {94: 1}, "faults are the card's"
    assert mig.topology.nvlink_peers == ()


def test_a_card_that_is_cut_anew_loses_no_device() -> None:
    card = FakeCard("GPU-0")
    reader = NvmlReader(FakeNvml([card]))
    assert sorted(by_uuid(reader.read())) == ["GPU-0"]
    card.slices = sliced(2).slices
    assert sorted(by_uuid(reader.read())) == ["MIG-0", "MIG-1"]
    card.slices = []
    assert reader.read() == ()
    card.slices = None
    assert [report.faults.is_lost for report in reader.read()] == [False]


def test_slices_of_a_lost_card_are_lost() -> None:
    card = sliced(2)
    reader = NvmlReader(FakeNvml([card, *h100s(2)[1:]]))
    reader.read()
    card.is_lost = True
    lost = {uuid for uuid, report in by_uuid(reader.read()).items() if report.faults.is_lost}
    assert lost == {"MIG-0", "MIG-1"}


def test_pci_addresses_are_written_as_linux_does() -> None:
    assert pci_address("00000000:1B:00.0") == "0000:1b:00.0"
    assert pci_address("00010000:65:00.0") == "10000:65:00.0"
    assert pci_address("") == ""


def test_the_lowest_bit_is_found_in_any_word() -> None:
    assert lowest_bit([0, 0b100]) == 66
    assert lowest_bit([1 << 63]) == 63
    assert lowest_bit([0, 0]) is None
