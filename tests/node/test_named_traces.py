"""The traces hold what their names say, and are replayed through the reader."""

from pathlib import Path

import pytest

from tests.node.named_traces import FALL_SECONDS, STORM, TRACES, write_named_trace
from worker.contracts.node_reports import GpuReport
from worker.node.readers.reader import ReaderError
from worker.node.readers.recorded import RecordedReader


def readings(name: str, folder: Path, *at_seconds: float) -> list[tuple[GpuReport, ...]]:
    seconds = [0.0]
    reader = RecordedReader(Path(write_named_trace(name, folder)), lambda: seconds[0])
    seen = []
    for seconds[0] in at_seconds:
        seen.append(reader.read())
    return seen


@pytest.mark.parametrize("name", sorted(TRACES))
def test_a_trace_is_replayed_with_each_gpu_once(name: str, tmp_path: Path) -> None:
    reader = RecordedReader(Path(write_named_trace(name, tmp_path)))
    uuids = [report.identity.uuid for report in reader.read()]
    assert len(uuids) == len(set(uuids)) > 0


def test_nodes_that_replay_one_trace_have_gpus_of_their_own(tmp_path: Path) -> None:
    uuids = [
        {gpu.identity.uuid for gpu in RecordedReader(Path(write_named_trace("mig_slices", tmp_path, node))).read()}
        for node in ("a", "b")
    ]
    assert uuids[0].isdisjoint(uuids[1])


def test_a_fallen_card_is_lost_with_xid_79(tmp_path: Path) -> None:
    before, after = readings("xid79_falls_off_bus", tmp_path, FALL_SECONDS - 0.1, FALL_SECONDS)
    assert [gpu.faults.is_lost for gpu in before] == [False] * 4
    assert [gpu.faults.is_lost for gpu in after] == [False, False, True, False]
    assert after[2].faults.xids == {79: 1}
    assert after[2].live.power is None


def test_a_card_comes_back_with_the_xid_that_it_had(tmp_path: Path) -> None:
    (back,) = readings("xid79_comes_back", tmp_path, 1000)
    assert [gpu.faults.is_lost for gpu in back] == [False] * 4
    assert back[2].faults.xids == {79: 1}


def test_a_storm_of_xid_45_is_the_only_thing_that_card_1_has(tmp_path: Path) -> None:
    before, after = readings("xid45_storm", tmp_path, 0, 1000)
    assert after[1].faults.xids == {45: STORM}
    assert after[1].faults.model_copy(update={"xids": {}}) == before[1].faults


def test_memory_degrades_until_no_spare_row_is_left(tmp_path: Path) -> None:
    seen = [cards[0].faults for cards in readings("ecc_remap_failure", tmp_path, 0, 2, FALL_SECONDS, 1000)]
    assert [faults.remap_pending for faults in seen] == [False, False, True, True]
    assert [faults.remap_failed for faults in seen] == [False, False, False, True]
    corrected = [faults.ecc_corrected or 0 for faults in seen]
    assert corrected == sorted(corrected)


def test_a_hot_card_is_slowed_while_it_is_hot(tmp_path: Path) -> None:
    seen = [cards[3] for cards in readings("thermal_throttle", tmp_path, 0, FALL_SECONDS, 1000)]
    assert ["hardware thermal slowdown" in card.faults.throttle_reasons for card in seen] == [False, True, False]
    assert (seen[1].live.sm_clock or 0) < (seen[0].live.sm_clock or 0)


def test_slices_name_the_card_that_they_are_part_of(tmp_path: Path) -> None:
    (cards,) = readings("mig_slices", tmp_path, 0)
    assert [card.identity.parent_uuid for card in cards] == ["GPU-node-0"] * 4 + [""]


def test_a_driver_that_fails_answers_again(tmp_path: Path) -> None:
    with pytest.raises(ReaderError):
        readings("driver_fails", tmp_path, FALL_SECONDS)
    assert len(readings("driver_fails", tmp_path, 1000)[0]) == 4
