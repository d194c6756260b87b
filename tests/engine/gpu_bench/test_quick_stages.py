"""The stages of the GPU bench run on tiny shapes, by the same code as on a card."""

import pytest

from tests.bench.gpu.bench_models import drawn_groups, main_model
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED
from tests.bench.gpu.plan_table import plan_table
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages import broadcasts, ceilings, forward, shared_card
from tests.bench.gpu.stages.gate_statistics import replayed
from tests.bench.gpu.stages.training import Step, measure_step
from tests.engine.gpu_bench.conftest import RunStages
from worker.engine.sync.binding import bind
from worker.engine.trainer.learners.transition_pairs import GroupPairs


def test_ceilings_and_forward_passes_are_measured(run_quickly: RunStages) -> None:
    report = run_quickly({"ceilings": ceilings.run, "forward": forward.run})
    assert [stage["status"] for stage in report.stages.values()] == ["done", "done"]
    of_case = {row["case"].partition(", ")[2]: row for row in report.rows("forward")}
    shipped, kinds = of_case[SHIPPED], of_case[f"{SHIPPED}, by kind of kernel"]
    assert 0 < shipped["seconds"] < shipped["first_call_seconds"] + 1 and of_case[PLAIN]["seconds"] > 0
    assert kinds["products_seconds"] > 0 and kinds["kernels"] > 100
    assert "mfu" not in shipped, "a rate of tiny shapes on a CPU would be taken for a measurement"
    assert "forward 32×32 × 2" in plan_table(report)


def test_an_optimizer_step_is_measured_with_what_it_holds_against_the_plan(
    run_quickly: RunStages, process_group: None
) -> None:
    def stage(bench: GpuBench) -> None:
        loaded = main_model(bench)
        measure_step(bench, loaded, Step(name=SHIPPED, size=loaded.model.sizes[0], batch=2))

    (step,) = run_quickly({"training": stage}).rows("training")
    assert 0 < step["seconds"] < step["seconds_taken"]
    planned = {line["quantity"].partition(": ")[2]: line for line in step["compared"]}
    weights = planned["weights and LoRA"]
    assert weights["measured"] == pytest.approx(weights["planned"], rel=0.1)


def test_replay_is_compared_element_by_element_with_rollout(bench: GpuBench) -> None:
    loaded = main_model(bench)
    spec = loaded.spec(loaded.model.sizes[0], members=4)
    version, (group,) = drawn_groups(bench, loaded, spec)
    adapter = loaded.adapter(spec, is_trained=True)
    pairs = GroupPairs.of(group)
    other_weights, _ = replayed(adapter, spec, pairs, at_once=4)
    bind(adapter.trainable, version)
    same_weights, ratios = replayed(adapter, spec, pairs, at_once=4)
    assert other_weights.max() > 0.1 > same_weights.max()
    assert (ratios - 1).abs().max() < spec.replay_bounds.ratio_error


def test_versions_are_broadcast_and_compared_with_the_plan(run_quickly: RunStages) -> None:
    report = run_quickly({"broadcasts": broadcasts.run})
    lora, whole = report.rows("broadcasts")
    assert lora["lanes"] == 2 and 0 < lora["measured_bytes"] < whole["measured_bytes"]
    assert "broadcast and bind, full" in plan_table(report)


def test_a_scorer_in_a_second_process_and_forward_passes_share_a_device(run_quickly: RunStages) -> None:
    report = run_quickly({"shared_card": shared_card.run})
    (row,) = report.rows("shared_card")
    assert row["passes_per_second_beside"] > 0 and row["pictures_per_second_beside"] > 0
    alone = row["passes_per_second_beside"] / row["passes_per_second"]
    assert row["shares_together"] == pytest.approx(
        alone + row["pictures_per_second_beside"] / row["pictures_per_second"]
    )
    assert "taking turns" in plan_table(report)
