"""Whatever calls a driver refuses, the NVML reader's reports are valid and leave no card out."""

from collections import Counter

import pynvml
from hypothesis import given
from hypothesis import strategies as st

from tests.node.readers.fake_nvml import FakeCard, FakeNvml, by_uuid, functions_of, h100s, sliced
from worker.contracts.node_reports import GpuReport
from worker.node.readers.nvml import NvmlReader
from worker.node.readers.reader import ReaderError

CODES = [
    pynvml.NVML_ERROR_NOT_SUPPORTED,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
    pynvml.NVML_ERROR_UNKNOWN,
    pynvml.NVML_ERROR_NO_PERMISSION,
    pynvml.NVML_ERROR_TIMEOUT,
    pynvml.NVML_ERROR_GPU_IS_LOST,
    pynvml.NVML_ERROR_RESET_REQUIRED,
]
ALWAYS = {"nvmlInit", "nvmlDeviceGetCount"}
"""Without these there is no driver."""
refusals = st.dictionaries(st.sampled_from(sorted(set(functions_of(FakeNvml)) - ALWAYS)), st.sampled_from(CODES))


@given(everywhere=refusals, one=refusals, is_sliced=st.booleans())
def test_whatever_calls_fail_the_reports_are_valid(
    everywhere: dict[str, int], one: dict[str, int], is_sliced: bool
) -> None:
    cards = [sliced(2) if is_sliced else FakeCard("GPU-0"), *h100s(3)[1:]]
    fake = FakeNvml(cards)
    reader = NvmlReader(fake)
    before = by_uuid(reader.read())
    fake.refused, cards[1].refused = everywhere, one
    speak_of_driver = {everywhere.get(name) for name in ("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID")} - {
        None,
        pynvml.NVML_ERROR_GPU_IS_LOST,
        pynvml.NVML_ERROR_RESET_REQUIRED,
    }
    for _ in range(2):
        try:
            reports = reader.read()
        except ReaderError:
            assert speak_of_driver, "the driver is there as long as one card answers, or says that it is lost"
            return
        for report in reports:
            assert GpuReport.model_validate_json(report.model_dump_json()) == report
        assert max(Counter(report.identity.uuid for report in reports).values(), default=1) == 1
        if "nvmlDeviceGetMigMode" not in everywhere and "nvmlDeviceGetMigMode" not in one:
            cards_before = {report.identity.parent_uuid or uuid for uuid, report in before.items()}
            now = {report.identity.parent_uuid or report.identity.uuid for report in reports}
            mig_calls = {"nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex"}
            hidden = {"GPU-0"} if is_sliced and mig_calls & everywhere.keys() else set()
            assert cards_before - now <= hidden, "no card is left out"


@given(refused=st.dictionaries(st.sampled_from(sorted(functions_of(FakeNvml))), st.sampled_from(CODES)))
def test_whatever_calls_fail_from_the_start_a_reader_is_made_or_refused(refused: dict[str, int]) -> None:
    fake = FakeNvml(h100s(2))
    fake.refused = refused
    try:
        reports = NvmlReader(fake).read()
    except ReaderError:
        assert refused.keys() & (ALWAYS | {"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID"})
    else:
        assert len(reports) <= 2
