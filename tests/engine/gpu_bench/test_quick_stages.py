"""The stages of the GPU bench run on tiny shapes, by the same code as on a card."""

import pytest

from tests.bench.gpu.bench_models import drawn_groups, main_model
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED
from tests.bench.gpu.plan_table import plan_table
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.stage_budgets import BUDGETS, NEED_SEVERAL_CARDS
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages import broadcasts, ceilings, compiled, forward, shared_card
from tests.bench.gpu.stages.gate_statistics import NUM_STEPS, gate_row, gate_spec, replayed
from tests.bench.gpu.stages.training import Step, measure_step
from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.gpu_bench.conftest import RunStages
from tests.slow_params import slow_but
from worker.contracts.names import RewardName, SdeType
from worker.scheduling.profiles.scorer_costs import SCORERS


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


@pytest.mark.parametrize("kernel", slow_but([SdeType.FLOW], SdeType))
def test_replay_of_every_step_is_compared_element_by_element_with_rollout(
    bench: GpuBench, process_group: None, kernel: SdeType
) -> None:
    loaded = main_model(bench)
    spec = gate_spec(loaded, kernel, at_once=1)
    version, groups = drawn_groups(bench, loaded, spec)
    with resident(loaded.resident):
        other_version = perturbed_version(spec, loaded.resident.path, seed=2)
    same = gate_row(loaded, spec, replayed(loaded, spec, version, groups))
    other = gate_row(loaded, spec, replayed(loaded, spec, other_version, groups))
    assert other["rms"] > same["bound_of_rms"] > same["rms"]
    assert same["ratio_deviation"] < same["bound_of_ratio"]
    (trajectories,) = groups[0].trajectories
    assert same["elements"] == sum(mean.numel() for mean in trajectories.means.values())
    assert len(trajectories.means) == NUM_STEPS - 1, "the last step is deterministic"


def test_what_compiles_is_measured_after_everything_else_of_one_card(
    run_quickly: RunStages, process_group: None
) -> None:
    gate, *family = run_quickly({"compiled": compiled.run}).rows("compiled")
    assert gate["elements"] > 0 and gate["rms"] < gate["bound_of_rms"]
    assert [row["case"].rpartition(", ")[2] for row in family] == [SHIPPED, "recomputing nothing"]
    of_one_card = [name for name in BUDGETS if name not in NEED_SEVERAL_CARDS]
    assert of_one_card[-1] == "compiled"


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


@pytest.mark.parametrize("name", [RewardName.CLIP_SCORE, RewardName.PICK_SCORE])
def test_the_plan_counts_more_than_the_weights_of_a_scorer_that_shares_a_card(name: RewardName) -> None:
    weights = 2 * SCORERS[name].num_parameters
    assert weights < shared_card.planned_bytes(name) < weights + 4e9, "a context and activations beside them"
