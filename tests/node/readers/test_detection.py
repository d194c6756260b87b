"""Which reader a node gets."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pynvml
import pytest

from tests.node.named_traces import write_named_trace
from tests.node.readers.fake_amdsmi import FakeAmdsmi, mi300s
from tests.node.readers.fake_nvml import FakeNvml, h100s
from tests.node.traces import cards
from worker.contracts.node_reports import GPU_TRACE_VARIABLE, NUM_GPUS_VARIABLE
from worker.node.readers.amd import AmdReader
from worker.node.readers.detection import amd_reader, offered, reader_of_this_node
from worker.node.readers.nvml import NvmlReader
from worker.node.readers.reader import NoDriverError, NoGpus, ReaderError
from worker.node.readers.recorded import RecordedReader


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The modules of the drivers; without an entry, that driver is not there."""
    nothing = FakeNvml([])
    nothing.refused["nvmlInit"] = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    modules: dict[str, Any] = {"pynvml": nothing, "amdsmi": None}
    monkeypatch.delenv(GPU_TRACE_VARIABLE, raising=False)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules


def test_a_node_without_drivers_has_no_gpus() -> None:
    reader = reader_of_this_node()
    assert isinstance(reader, NoGpus)
    assert reader.read() == ()


def test_nvidias_driver_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(h100s()))
    monkeypatch.setitem(sys.modules, "amdsmi", FakeAmdsmi(mi300s()))
    assert isinstance(reader_of_this_node(), NvmlReader)


@pytest.mark.parametrize("nvml", [FakeNvml([]), None])
def test_amds_driver_is_asked_where_nvidias_has_no_card(monkeypatch: pytest.MonkeyPatch, nvml: Any) -> None:
    if nvml is not None:
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setitem(sys.modules, "amdsmi", FakeAmdsmi(mi300s(2)))
    reader = reader_of_this_node()
    assert isinstance(reader, AmdReader)
    assert len(reader.read()) == 2


def test_a_failing_driver_is_not_taken_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(h100s())
    nvml.refused["nvmlInit"] = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert isinstance(reader_of_this_node(), NvmlReader)


@pytest.mark.parametrize("error", ["ImportError('no')", "KeyError('libamd_smi.so')", "AttributeError('amdsmi_init')"])
def test_a_module_without_its_library_is_no_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: str) -> None:
    """As `amdsmi` 7.0.2 fails to import where ROCm is not installed: with a `KeyError`."""
    (tmp_path / "amdsmi.py").write_text(f"raise {error}\n")
    monkeypatch.delitem(sys.modules, "amdsmi")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoDriverError, match="amdsmi"):
        amd_reader()
    assert isinstance(reader_of_this_node(), NoGpus)


def test_a_trace_takes_the_place_of_any_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(h100s()))
    monkeypatch.setenv(GPU_TRACE_VARIABLE, write_named_trace("mig_slices", tmp_path))
    reader = reader_of_this_node()
    assert isinstance(reader, RecordedReader)
    assert reader.read()[0].identity.parent_uuid


def test_the_real_pynvml_finds_no_driver_here_or_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(pynvml, ModuleType)
    monkeypatch.setitem(sys.modules, "pynvml", pynvml)
    reader = reader_of_this_node()
    try:
        assert all(report.identity.memory_bytes for report in reader.read() if not report.faults.is_lost)
    finally:
        reader.close()


@pytest.mark.parametrize(("number", "kept"), [("", [0, 1, 2]), ("2", [0, 1]), ("0", []), ("9", [0, 1, 2])])
def test_a_node_offers_the_first_gpus_of_its_variable(
    number: str, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NUM_GPUS_VARIABLE, number)
    assert [gpu.identity.index for gpu in offered(cards("H100", 3))] == kept


@pytest.mark.parametrize(("mask", "number", "kept"), [("1,2", "", [1, 2]), ("1,2", "1", [1]), ("", "", [])])
def test_a_node_offers_no_gpu_that_its_environment_hides(
    mask: str, number: str, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver lists every card of a shared box, whatever `CUDA_VISIBLE_DEVICES` says."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", mask)
    monkeypatch.setenv(NUM_GPUS_VARIABLE, number)
    assert [gpu.identity.index for gpu in offered(cards("H100", 3))] == kept


def test_a_mask_that_cannot_be_told_apart_is_an_error_of_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    with pytest.raises(ReaderError, match="CUDA_DEVICE_ORDER"):
        offered([*cards("H100", 1), *cards("L40S", 2)])


def test_rocms_own_folder_is_searched_for_its_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "share" / "amd_smi" / "amdsmi"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('found in the folder of ROCm')\n")
    monkeypatch.delitem(sys.modules, "amdsmi")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(NoDriverError, match="found in the folder of ROCm"):
        amd_reader()
