"""Ascend NPUs as `npu-smi info` prints them."""

import sys
from pathlib import Path

import pytest

from worker.contracts.node_reports import Vendor
from worker.node.readers.ascend import AscendReader, ask_tool
from worker.node.readers.detection import offered, reader_of_this_node
from worker.node.readers.reader import NoDriverError, ReaderError

HEAD = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
CARDS = (
    """\
| 0     910B3               | OK            | 95.5        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 12          0    / 0          3368 / 65536         |
+===========================+===============+====================================================+
""",
    """\
| 1     910B3               | Warning       | -           NA                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          3367 / 65536         |
+===========================+===============+====================================================+
""",
)
PROCESSES = """\
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 2264083       | python                   | 31234                   |
+===========================+===============+====================================================+
"""
TWO_CHIPS = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 160.2       35                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3159 / 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | OK            | -           35                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          2875 / 65536         |
+===========================+===============+====================================================+
"""


def test_each_chip_is_a_device_with_its_number_memory_and_load() -> None:
    first, second = AscendReader("npu-smi", lambda tool: HEAD + "".join(CARDS) + PROCESSES).read()
    assert (first.identity.uuid, first.identity.index, first.identity.vendor) == ("NPU-0000:c1:00.0", 0, Vendor.ASCEND)
    assert (first.identity.model, first.identity.driver) == ("Ascend 910B3", "24.1.rc2")
    assert first.identity.memory_bytes == 65536 * 2**20
    assert (first.live.power, first.live.temperature, first.live.utilisation) == (95.5, 36.0, 0.12)
    assert first.live.memory_used_bytes == 3368 * 2**20
    assert (first.live.num_processes, second.live.num_processes) == (1, 0)
    assert (second.identity.index, second.live.power, second.live.temperature) == (1, None, None)
    assert not first.faults.recovery_action
    assert "Warning" in second.faults.recovery_action


def test_the_chips_of_one_card_have_their_physical_numbers() -> None:
    read = AscendReader("npu-smi", lambda tool: TWO_CHIPS).read()
    assert [(each.identity.index, each.identity.pci_address) for each in read] == [
        (0, "0000:9d:00.0"),
        (1, "0000:9f:00.0"),
    ]
    assert [each.live.num_processes for each in read] == [None, None], "there is no table of processes"


def test_processes_are_counted_by_chip_and_idle_cards_said_to_have_none() -> None:
    more = """\
| 0       1                 | 77            | train worker             | 40                      |
| 0       1                 | 78            | python                   | 40                      |
| No running processes found in NPU 3                                                            |
"""
    read = AscendReader("npu-smi", lambda tool: TWO_CHIPS + PROCESSES + more).read()
    assert [each.live.num_processes for each in read] == [1, 2]


def test_a_chip_that_is_left_out_is_lost_and_the_others_stay() -> None:
    printed = iter([HEAD + "".join(CARDS)] * 2 + [HEAD + CARDS[0]])
    reader = AscendReader("npu-smi", lambda tool: next(printed))
    assert not any(each.faults.is_lost for each in reader.read())
    assert [each.faults.is_lost for each in reader.read()] == [False, True]


def test_a_tool_without_cards_is_no_driver_and_one_that_fails_later_is_an_error() -> None:
    with pytest.raises(NoDriverError, match="no NPU"):
        AscendReader("npu-smi", lambda tool: HEAD)
    printed = iter([HEAD + CARDS[0], HEAD])
    reader = AscendReader("npu-smi", lambda tool: next(printed))
    with pytest.raises(ReaderError, match="no NPU"):
        reader.read()


def test_the_tool_is_found_and_its_cards_go_through_the_mask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(HEAD + "".join(CARDS))
    tool = tmp_path / "npu-smi"
    tool.write_text(f"#!{sys.executable}\nprint(open({str(tmp_path / 'table')!r}).read())\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    reader = reader_of_this_node()
    assert isinstance(reader, AscendReader)
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "1")
    assert [gpu.identity.index for gpu in offered(reader.read())] == [1]


def test_a_failing_tool_says_what_it_printed(tmp_path: Path) -> None:
    tool = tmp_path / "npu-smi"
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('dcmi module initialize failed')\n")
    tool.chmod(0o755)
    with pytest.raises(ReaderError, match="dcmi module"):
        ask_tool(str(tool))
