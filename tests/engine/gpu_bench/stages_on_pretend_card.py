"""Stages of the bench on the pretended card, whose process `test_on_a_pretended_card` starts: their helpers, and the
engine below them, take the ways of a card and not of a CPU."""

import time

import pytest

from tests.bench.gpu.bench_models import main_model
from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.machine_facts import machine_facts
from tests.bench.gpu.stage_runner import GpuBench, StageRun, run_stages
from tests.bench.gpu.stages import ceilings, decoding, families, forward, offload, scorers, versions
from tests.bench.gpu.stages.training import RECOMPUTES_NOTHING, Step, measure_step
from tests.engine.gpu_bench.conftest import QUICK, RunStages
from tests.engine.pretend_accelerator import NUM_BYTES

STAGES: dict[str, StageRun] = {
    "ceilings": ceilings.run,
    "forward": forward.run,
    "versions": versions.run,
    "decoding": decoding.run,
    "families": families.run,
    "offload": offload.run,
    "scorers": scorers.run,
}
"""The others take minutes, or have processes of their own (`test_kit_on_pretended_cards`). What compiles runs
uncompiled, and no kernel is counted."""


def test_the_head_of_a_report_names_the_card() -> None:
    facts = machine_facts(QUICK)
    assert (facts["device"], facts["num_devices"], facts["device_bytes"]) == ("Pretend Card 0", 1, NUM_BYTES)


@pytest.mark.parametrize("stage", STAGES)
def test_every_case_of_a_stage_is_measured(bench: GpuBench, process_group: None, stage: str) -> None:
    assert run_stages({stage: STAGES[stage]}, bench, ends_at=time.monotonic() + 200)
    rows = BenchReport.read(bench.report.path).rows(stage)
    assert rows
    assert {row["case"]: row["skipped"] for row in rows if "skipped" in row} == {}


@pytest.mark.parametrize("every", [0, 1])
def test_an_optimizer_step_is_measured_with_recomputed_blocks_and_without(
    run_quickly: RunStages, process_group: None, every: int
) -> None:
    def stage(bench: GpuBench) -> None:
        loaded = main_model(bench)
        sections = {"deepspeed": {"gradient_checkpointing": every}}
        measure_step(bench, loaded, Step(name="step", size=loaded.model.sizes[0], batch=2, sections=sections))

    (step,) = run_quickly({"training": stage}).rows("training")
    assert step["seconds"] > 0 and (step["recomputed_blocks"] > 0) is bool(every)
    assert step["activations_bytes"] > 0
    # The pretended card has no context, and what was freed since the peak is all that is missing.
    assert step["reserve_bytes"] <= 0


def test_the_plain_loop_beside_the_engine_runs_under_autocast(run_quickly: RunStages, process_group: None) -> None:
    def stage(bench: GpuBench) -> None:
        loaded = main_model(bench)
        step = Step(name="plain", size=loaded.model.sizes[0], batch=2, sections=RECOMPUTES_NOTHING, is_plain=True)
        measure_step(bench, loaded, step)

    (step,) = run_quickly({"training": stage}).rows("training")
    assert step["seconds"] > 0 and step["added_bytes"] > 0
