"""What the AMD reader makes of `amdsmi`'s answers, in several releases' words."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.node.readers.fake_amdsmi import (
    DRIVER_NOT_LOADED,
    FILE_NOT_FOUND,
    GIB,
    NOT_SUPPORTED,
    FakeAmdCard,
    FakeAmdsmi,
    mi300s,
)
from tests.node.readers.fake_nvml import functions_of
from worker.contracts.node_reports import GpuLive, GpuReport, Vendor
from worker.node.readers import amd, amd_device, amd_values, nvml_values
from worker.node.readers.amd import REOPEN_SECONDS, AmdReader
from worker.node.readers.amd_values import number
from worker.node.readers.reader import NoDriverError, ReaderError


def lost(reports: tuple[GpuReport, ...]) -> list[str]:
    return [report.identity.uuid for report in reports if report.faults.is_lost]


def test_a_card_is_described_in_full() -> None:
    report = AmdReader(FakeAmdsmi(mi300s())).read()[1]
    identity = report.identity
    assert (identity.uuid, identity.index, identity.vendor) == ("GPU-000000000000ab01", 1, Vendor.AMD)
    assert (identity.model, identity.architecture, identity.compute_capability) == (
        "AMD Instinct MI300X",
        "CDNA 3",
        "gfx942",
    )
    assert (identity.memory_bytes, identity.pci_address) == (192 * GIB, "0000:0d:00.0")
    assert (identity.driver, identity.runtime) == ("6.14.14", "ROCm 7.0.2")
    assert identity.max_sm_clock == 2100
    assert report.topology.numa_node == 1
    assert report.topology.nvlink_peers == tuple(f"GPU-000000000000ab0{other}" for other in (0, 2, 3))
    live = report.live
    assert (live.utilisation, live.memory_used_bytes, live.num_processes) == (0.88, 2 * GIB, 1)
    assert (live.temperature, live.memory_temperature) == (57, 48), "MI300 has no sensor at its edge"
    assert (live.power, live.power_limit) == (612, 750)
    assert live.energy_joules == pytest.approx(15.259)
    assert (live.sm_clock, live.memory_clock) == (2100, 1300)
    faults = report.faults
    assert (faults.ecc_corrected, faults.ecc_uncorrected, faults.pcie_replays) == (4, 0, 3)
    assert (faults.retired_pages, faults.remap_pending, faults.remap_failed) == (0, False, False)
    assert not faults.is_lost


def test_indices_follow_pci_addresses() -> None:
    reports = AmdReader(FakeAmdsmi(mi300s()[::-1])).read()
    assert [report.identity.index for report in reports] == [0, 1, 2, 3]
    addresses = [report.identity.pci_address for report in reports]
    assert addresses == sorted(addresses)


def test_bad_pages_fail_the_card_at_the_vendors_threshold() -> None:
    card = FakeAmdCard(1, pages=[0, 0, 1], page_threshold=4)
    reader = AmdReader(FakeAmdsmi([card]))
    faults = reader.read()[0].faults
    assert (faults.retired_pages, faults.remap_pending, faults.remap_failed) == (3, True, False)
    card.pages = [0] * 4
    faults = reader.read()[0].faults
    assert (faults.retired_pages, faults.remap_pending, faults.remap_failed) == (4, False, True)


def test_what_limits_the_clocks_is_named() -> None:
    card = FakeAmdCard(1, violations={"hbm_thrm": True, "vr_thrm": True, "ppt_pwr": "N/A"})
    reader = AmdReader(FakeAmdsmi([card]))
    assert reader.read()[0].faults.throttle_reasons == ("hardware thermal slowdown",)
    card.violations = {"ppt_pwr": True}
    assert reader.read()[0].faults.throttle_reasons == ("software power cap",)


def test_clocks_are_limited_by_reasons_that_nvidias_cards_have_too() -> None:
    assert set(amd_values._VIOLATIONS.values()) <= set(nvml_values._THROTTLE_REASONS.values())


def test_cards_without_xgmi_have_no_peers() -> None:
    cards = mi300s(3)
    cards[1].is_xgmi = False
    reports = AmdReader(FakeAmdsmi(cards)).read()
    assert [len(report.topology.nvlink_peers) for report in reports] == [1, 0, 1]


def test_older_releases_answers_are_understood() -> None:
    card = FakeAmdCard(0xAB, refused={"amdsmi_get_gpu_enumeration_info": NOT_SUPPORTED})
    card.answers = {
        "amdsmi_get_energy_count": {"power": 1_000_000, "counter_resolution": 15.259, "timestamp": 1},
        "amdsmi_get_clock_info": {"cur_clk": 1700, "max_clk": 1700, "min_clk": 500},
        "amdsmi_get_power_info": {"average_socket_power": 300, "current_socket_power": "N/A", "power_limit": 560},
        "amdsmi_get_gpu_bad_page_info": "No bad pages found.",
        "amdsmi_get_pcie_info": {"pcie_lanes": 16},
    }
    report = AmdReader(FakeAmdsmi([card])).read()[0]
    assert report.identity.uuid == "GPU-00000000000000ab", "of the serial number"
    assert (report.live.power, report.live.sm_clock) == (300, 1700)
    assert report.live.energy_joules == pytest.approx(15.259)
    assert (report.faults.retired_pages, report.faults.pcie_replays) == (0, 9)


def test_functions_that_a_release_has_not_leave_their_values_empty() -> None:
    class Release6(FakeAmdsmi):
        amdsmi_get_violation_status: Any = None
        amdsmi_get_rocm_version: Any = None
        amdsmi_get_gpu_bad_page_threshold: Any = None

    report = AmdReader(Release6(mi300s(1))).read()[0]
    assert (report.identity.runtime, report.faults.throttle_reasons, report.faults.remap_failed) == ("", (), False)


def test_what_is_not_available_is_no_number() -> None:
    for value in ("N/A", None, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, -1, float("nan"), True):
        assert number({"value": value}, "value") is None
    assert number({"first": "N/A", "second": 3}, "first", "second") == 3
    assert number("N/A", "value") is None
    assert number(0) == 0


# --- UUIDs ------------------------------------------------------------------------------------------------------------


def test_partitions_of_a_card_are_told_apart() -> None:
    cards = [FakeAmdCard(7, bdf=f"0000:0c:00.{part}", partition=part) for part in range(3)]
    uuids = [report.identity.uuid for report in AmdReader(FakeAmdsmi(cards)).read()]
    assert uuids == ["GPU-0000000000000007", "GPU-0000000000000007.1", "GPU-0000000000000007.2"]


def test_cards_of_one_number_are_told_apart_by_their_address() -> None:
    cards = [FakeAmdCard(7, bdf=f"0000:0{part}:00.0") for part in range(2)]
    uuids = [report.identity.uuid for report in AmdReader(FakeAmdsmi(cards)).read()]
    assert uuids == ["GPU-0000000000000007", "GPU-0000000000000007@0000:01:00.0"]


def test_a_card_without_a_number_has_the_librarys_uuid() -> None:
    card = FakeAmdCard(0, device_uuid="fcff7460-0000-1000-80e9-b388cfe84658")
    assert AmdReader(FakeAmdsmi([card])).read()[0].identity.uuid == card.device_uuid


# --- lost cards -------------------------------------------------------------------------------------------------------


def test_a_card_that_stops_answering_is_lost_and_hides_no_other() -> None:
    cards = mi300s()
    reader = AmdReader(FakeAmdsmi(cards))
    reader.read()
    cards[2].is_lost = True
    reports = reader.read()
    assert len(reports) == 4
    assert lost(reports) == ["GPU-000000000000ab02"]
    assert reports[2].live == GpuLive()
    cards[2].is_lost = False
    assert lost(reader.read()) == []


def test_a_card_that_amdsmi_finds_only_when_opened_comes_back_after_a_while() -> None:
    seconds = [0.0]
    fake = FakeAmdsmi(mi300s(2))
    reader = AmdReader(fake, lambda: seconds[0])
    reader.read()
    fake.listed.pop()
    assert lost(reader.read()) == ["GPU-000000000000ab01"]
    seconds[0] = REOPEN_SECONDS - 1
    assert lost(reader.read()) == ["GPU-000000000000ab01"]
    seconds[0] = REOPEN_SECONDS
    assert lost(reader.read()) == []


def test_when_no_card_answers_the_driver_is_gone_until_it_is_opened_again() -> None:
    cards = mi300s(2)
    fake = FakeAmdsmi(cards)
    reader = AmdReader(fake)
    reader.read()
    for card in cards:
        card.is_lost = True
    with pytest.raises(ReaderError, match="none of 2 GPUs"):
        reader.read()
    fake.refused["amdsmi_init"] = DRIVER_NOT_LOADED
    with pytest.raises(ReaderError, match="34"):
        reader.read()
    fake.refused.clear()
    for card in cards:
        card.is_lost = False
    assert lost(reader.read()) == []


def test_without_a_driver_or_a_card_there_is_no_reader() -> None:
    fake = FakeAmdsmi(mi300s())
    fake.refused["amdsmi_init"] = DRIVER_NOT_LOADED
    with pytest.raises(NoDriverError, match="Error code: 34"):
        AmdReader(fake)
    with pytest.raises(NoDriverError, match="no card"):
        AmdReader(FakeAmdsmi([]))


# --- whatever the library refuses -------------------------------------------------------------------------------------

FUNCTIONS = sorted(set(functions_of(FakeAmdsmi)) - {"amdsmi_init", "amdsmi_get_processor_handles"})
LIVE = {
    "amdsmi_get_gpu_activity",
    "amdsmi_get_gpu_memory_usage",
    "amdsmi_get_temp_metric",
    "amdsmi_get_power_info",
    "amdsmi_get_power_cap_info",
    "amdsmi_get_energy_count",
    "amdsmi_get_clock_info",
    "amdsmi_get_gpu_process_list",
}
refusals = st.dictionaries(st.sampled_from(FUNCTIONS), st.sampled_from([NOT_SUPPORTED, FILE_NOT_FOUND, 16]))


@given(everywhere=refusals, one=refusals)
def test_whatever_calls_fail_the_reports_are_valid(everywhere: dict[str, int], one: dict[str, int]) -> None:
    cards = mi300s(3)
    fake = FakeAmdsmi(cards)
    reader = AmdReader(fake)
    reader.read()
    fake.refused, cards[1].refused = everywhere, one
    try:
        reports = reader.read()
    except ReaderError:
        is_nameless = {"amdsmi_get_gpu_enumeration_info", "amdsmi_get_gpu_asic_info"} <= everywhere.keys()
        assert is_nameless or everywhere.keys() >= LIVE, "a card with a UUID and one live value answers"
        return
    for report in reports:
        assert GpuReport.model_validate_json(report.model_dump_json()) == report
    assert len({report.identity.uuid for report in reports}) == len(reports) >= 3


JUNK = st.one_of(st.none(), st.integers(), st.text(), st.just("N/A"), st.just([]), st.just({}), st.floats())


@given(answers=st.dictionaries(st.sampled_from(FUNCTIONS), JUNK))
@example(answers={"amdsmi_get_temp_metric": 1.0000000000000002e100})
@example(answers={"amdsmi_get_temp_metric": 10**400})
@example(answers={"amdsmi_get_energy_count": {"energy_accumulator": 1e90, "counter_resolution": 1e90}})
def test_answers_of_another_form_leave_values_empty(answers: dict[str, Any]) -> None:
    cards = mi300s(2)
    cards[1].answers = answers
    reports = AmdReader(FakeAmdsmi(cards)).read()
    for report in reports:
        assert GpuReport.model_validate_json(report.model_dump_json()) == report


def test_every_function_that_the_reader_asks_for_is_faked() -> None:
    """The real module is not at hand here; the fake's names, signatures and answers were compared with its source."""
    used = set[str]()
    for module in (amd, amd_device):
        nodes = list(ast.walk(ast.parse(Path(inspect.getfile(module)).read_text())))
        words = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        words += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
        used |= {word for word in words if word.startswith("amdsmi_") and word.isidentifier()}
    assert used == set(functions_of(FakeAmdsmi))
