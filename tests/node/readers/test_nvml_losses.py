"""Cards and drivers that stop answering: what the NVML reader says of them, and how they come back."""

import pynvml
import pytest

from tests.node.readers.fake_nvml import FakeCard, FakeNvml, by_uuid, h100s
from worker.contracts.node_reports import GpuLive
from worker.node.readers.nvml import REOPEN_SECONDS, NvmlReader
from worker.node.readers.reader import NoDriverError, ReaderError


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_card_off_the_bus_is_lost_with_its_last_xid_and_hides_no_other() -> None:
    cards = h100s()
    reader = NvmlReader(FakeNvml(cards))
    reader.read()
    cards[2].xids.append(79)
    cards[2].is_lost = True
    reports = by_uuid(reader.read())
    assert [uuid for uuid, report in reports.items() if report.faults.is_lost] == ["GPU-2"]
    lost = reports["GPU-2"]
    assert (lost.faults.xids, lost.live, lost.identity.index) == ({79: 1}, GpuLive(), 2)
    assert reports["GPU-3"].topology.nvlink_peers == ("GPU-0", "GPU-1")


def test_a_card_is_lost_also_when_it_needs_a_reset() -> None:
    cards = h100s(2)
    reader = NvmlReader(FakeNvml(cards))
    reader.read()
    cards[0].refused["nvmlDeviceGetPowerUsage"] = pynvml.NVML_ERROR_RESET_REQUIRED
    assert [report.faults.is_lost for report in reader.read()] == [True, False]


def test_a_lost_card_stays_lost_until_it_answers_again() -> None:
    cards = h100s(2)
    reader = NvmlReader(FakeNvml(cards))
    reader.read()
    cards[1].is_lost = True
    for _ in range(3):
        assert [report.faults.is_lost for report in reader.read()] == [False, True]
    cards[1].is_lost = False
    assert [report.faults.is_lost for report in reader.read()] == [False, False]


def test_xids_are_counted_on_after_a_card_came_back() -> None:
    cards = h100s(2)
    reader = NvmlReader(FakeNvml(cards))
    reader.read()
    cards[1].xids.append(79)
    cards[1].is_lost = True
    reader.read()
    cards[1].is_lost = False
    reader.read()
    cards[1].xids.append(31)
    assert reader.read()[1].faults.xids == {79: 1, 31: 1}


def test_event_sets_are_freed() -> None:
    cards = h100s(2)
    fake = FakeNvml(cards)
    reader = NvmlReader(fake)
    reader.read()
    assert fake.num_event_sets == 2
    cards[1].is_lost = True
    reader.read()
    assert fake.num_event_sets == 1
    reader.close()
    assert fake.num_event_sets == 0


def test_a_card_that_nvml_finds_only_when_opened_comes_back_after_a_while() -> None:
    cards, clock = h100s(2), Clock()
    fake = FakeNvml(cards)
    reader = NvmlReader(fake, clock)
    reader.read()
    taken_out = fake.listed.pop()
    assert reader.read()[1].faults.is_lost
    assert taken_out is cards[1]
    clock.seconds = REOPEN_SECONDS - 1
    assert reader.read()[1].faults.is_lost
    clock.seconds = REOPEN_SECONDS
    assert not reader.read()[1].faults.is_lost


def test_without_a_lost_card_nvml_stays_open() -> None:
    clock = Clock()
    fake = FakeNvml(h100s())
    reader = NvmlReader(fake, clock)
    for _ in range(3):
        reader.read()
        clock.seconds += REOPEN_SECONDS
    assert (fake.num_calls["nvmlInit"], fake.num_calls["nvmlShutdown"]) == (1, 0)


def test_a_driver_that_fails_as_a_whole_is_an_error_and_is_opened_again() -> None:
    fake = FakeNvml(h100s())
    reader = NvmlReader(fake)
    reader.read()
    fake.refused["nvmlDeviceGetHandleByIndex"] = pynvml.NVML_ERROR_UNKNOWN
    with pytest.raises(ReaderError, match="Unknown"):
        reader.read()
    fake.refused.clear()
    assert [report.faults.is_lost for report in reader.read()] == [False] * 4


def test_the_only_card_of_a_node_can_be_lost() -> None:
    card = FakeCard("GPU-0")
    reader = NvmlReader(FakeNvml([card]))
    reader.read()
    card.is_lost = True
    assert [report.faults.is_lost for report in reader.read()] == [True]


def test_without_a_driver_or_a_card_there_is_no_reader() -> None:
    for code in (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED):
        fake = FakeNvml(h100s())
        fake.refused["nvmlInit"] = code
        with pytest.raises(NoDriverError):
            NvmlReader(fake)
    with pytest.raises(NoDriverError, match="no card"):
        NvmlReader(FakeNvml([]))


def test_a_driver_that_fails_at_first_is_tried_again() -> None:
    fake = FakeNvml(h100s(1))
    fake.refused["nvmlInit"] = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    reader = NvmlReader(fake)
    with pytest.raises(ReaderError, match="version mismatch"):
        reader.read()
    fake.refused.clear()
    assert len(reader.read()) == 1
