"""A recorded trace is replayed by time."""

import json
from pathlib import Path

import pytest

from tests.node.traces import MODELS, cards
from worker.contracts.node_reports import GpuReport
from worker.node.readers.reader import ReaderError
from worker.node.readers.recorded import RecordedReader


def line(after: float, num_gpus: int) -> str:
    return json.dumps({"after": after, "gpus": [gpu.model_dump(mode="json") for gpu in cards("H100", num_gpus)]})


def written(folder: Path, *lines: str) -> Path:
    path = folder / "trace.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_readings_hold_from_their_time_on_and_the_last_one_stays(tmp_path: Path) -> None:
    trace = written(tmp_path, line(0, 1), line(5, 2), "", line(9, 3))
    seconds = [100.0]
    reader = RecordedReader(trace, lambda: seconds[0])
    seen = []
    for seconds[0] in (100, 104.9, 105, 108, 109, 1e6):
        seen.append(len(reader.read()))
    assert seen == [1, 1, 2, 2, 3, 3]


def test_a_reading_before_the_first_line_is_the_first_line(tmp_path: Path) -> None:
    assert len(RecordedReader(written(tmp_path, line(3, 2)), lambda: 0.0).read()) == 2


def test_reports_come_back_as_they_were_written(tmp_path: Path) -> None:
    assert RecordedReader(written(tmp_path, line(0, 2))).read() == tuple(cards("H100", 2))


def test_a_trace_that_is_written_anew_begins_anew(tmp_path: Path) -> None:
    seconds = [0.0]
    reader = RecordedReader(written(tmp_path, line(0, 1), line(5, 2)), lambda: seconds[0])
    seconds[0] = 100
    assert len(reader.read()) == 2
    written(tmp_path, line(0, 3), line(5, 4))
    found = [len(reader.read())]
    seconds[0] = 105
    assert [*found, len(reader.read())] == [3, 4]


def test_an_error_is_raised_at_each_reading_until_the_next_line(tmp_path: Path) -> None:
    trace = written(tmp_path, json.dumps({"after": 0, "error": "NVML: Unknown Error"}), line(5, 1))
    seconds = [0.0]
    reader = RecordedReader(trace, lambda: seconds[0])
    for _ in range(2):
        with pytest.raises(ReaderError, match="NVML: Unknown Error"):
            reader.read()
    seconds[0] = 5
    assert len(reader.read()) == 1


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [line(5, 1), line(4, 1)],
        [json.dumps({"after": 0})],
        [json.dumps({"gpus": []})],
        [json.dumps({"after": 0, "gpus": [], "error": "both"})],
        [json.dumps({"after": -1, "gpus": []})],
        [json.dumps({"after": 0, "gpus": [], "unknown": 1})],
        [json.dumps({"after": 0, "gpus": [{"identity": {"uuid": ""}}]})],
        ["not JSON"],
    ],
)
def test_a_bad_trace_is_refused_at_once(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(ValueError):
        RecordedReader(written(tmp_path, *lines))


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        RecordedReader(tmp_path / "nowhere.jsonl")


def test_a_line_is_a_report_of_the_contract(tmp_path: Path) -> None:
    for report in json.loads(line(0, 2))["gpus"]:
        assert GpuReport.model_validate(report).identity.model == MODELS["H100"].name
