"""Stages of the bench on the pretended card, whose process `test_on_a_pretended_card` starts: their helpers, and the
engine below them, take the ways of a card and not of a CPU."""

import time

import pytest

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.machine_facts import machine_facts
from tests.bench.gpu.stage_runner import GpuBench, StageRun, run_stages
from tests.bench.gpu.stages import ceilings, decoding, families, offload, versions
from tests.engine.gpu_bench.conftest import QUICK
from tests.engine.pretend_card import NUM_BYTES

STAGES: dict[str, StageRun] = {
    "ceilings": ceilings.run,
    "versions": versions.run,
    "decoding": decoding.run,
    "families": families.run,
    "offload": offload.run,
}
"""`training` recomputes blocks, whose backward pass the pretended card does not survive. The others take a minute,
count kernels, compile, or need a second process or card."""


def test_the_head_of_a_report_names_the_card() -> None:
    facts = machine_facts(QUICK)
    assert (facts["device"], facts["num_devices"], facts["device_bytes"]) == ("Pretend Card 0", 1, NUM_BYTES)


@pytest.mark.parametrize("stage", STAGES)
def test_every_case_of_a_stage_is_measured(bench: GpuBench, process_group: None, stage: str) -> None:
    assert run_stages({stage: STAGES[stage]}, bench, ends_at=time.monotonic() + 200)
    rows = BenchReport.read(bench.report.path).rows(stage)
    assert rows
    assert {row["case"]: row["skipped"] for row in rows if "skipped" in row} == {}
