"""What the GPU bench takes a trainer step to do and to hold is what the engine does and the planner counts."""

from dataclasses import replace
from typing import Any

import pytest

from tests.bench.gpu import forward_passes
from tests.bench.gpu.bench_models import LoadedModel, loaded_model, main_model
from tests.bench.gpu.bench_shapes import FULL, SampleSize
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.stage_budgets import BUDGETS
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages import forward, training
from tests.bench.gpu.stages.families import family_step
from tests.bench.gpu.stages.training import free_bytes_needed
from tests.bench.roofline.expected_mfu import EXPECTED_MFU
from worker.contracts.names import Tuning
from worker.contracts.performance import DIFFUSERS_CHOICE
from worker.contracts.sections import BaseModelSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero import recomputed_share
from worker.scheduling.profiles.hardware import GB, H100
from worker.scheduling.profiles.known_models import profile_of

FLUX_DEV = FULL.main.hub_id


@pytest.fixture
def whole_flux(bench: GpuBench, monkeypatch: pytest.MonkeyPatch) -> LoadedModel:
    """FLUX.1 on an H100, as far as the planner sees it; its weights are the tiny model's."""
    monkeypatch.setattr(recomputed_share, "_described", lambda device: H100)
    monkeypatch.setattr(training, "planned_device", lambda: H100)
    model = replace(bench.shapes.main, hub_id=FLUX_DEV, dtype="bf16")
    tiny = loaded_model(bench, model)
    return replace(tiny, profile=profile_of(BaseModelSpec(path=FLUX_DEV, family=model.family)), rank=32)


def test_blocks_that_a_card_need_not_recompute_are_not_counted_as_work(whole_flux: LoadedModel) -> None:
    small, large = SampleSize(height=512, width=512), SampleSize(height=1024, width=1024)
    fits, is_tight = whole_flux.spec(small, members=4), whole_flux.spec(large, members=2)
    assert whole_flux.num_recomputed_blocks(fits) == 0
    assert 0 < whole_flux.num_recomputed_blocks(is_tight) < 57
    all_recomputed = whole_flux.spec(small, members=4, deepspeed={"gradient_checkpointing": 1})
    assert whole_flux.workload(all_recomputed).unit_flops == pytest.approx(1.5 * whole_flux.workload(fits).unit_flops)


def test_the_utilisation_of_a_known_model_stands_beside_its_arithmetic(whole_flux: LoadedModel) -> None:
    size = SampleSize(height=512, width=512)
    steps = [training.Step(name=name, size=size, batch=4) for name in (forward_passes.SHIPPED, "recomputing nothing")]
    shipped, other = (training._against_arithmetic(whole_flux, step, {"mfu": 0.3}) for step in steps)
    assert [(line["planned"], line["measured"]) for line in shipped] == [(EXPECTED_MFU["training", 512][1], 0.3)]
    assert other == []


def test_a_step_that_fits_the_card_beside_its_reserve_is_not_refused(whole_flux: LoadedModel) -> None:
    spec = whole_flux.spec(SampleSize(height=1024, width=1024), members=2)
    weights, context = 24 * GB, 1 * GB
    assert free_bytes_needed(whole_flux, spec) < H100.memory_bytes - weights - context


@pytest.mark.parametrize("every", [None, 0, 1, 2])
def test_the_bench_counts_the_blocks_that_a_rank_recomputes(
    bench: GpuBench, process_group: None, every: int | None
) -> None:
    loaded = main_model(bench)
    sections: dict[str, Any] = {"deepspeed": {"gradient_checkpointing": every}}
    spec = loaded.spec(loaded.model.sizes[0], members=2, **sections)
    with resident(loaded.resident):
        transformer: Any = TrainerRank(spec, loaded.resident.path, 0, 1)._policy.model.transformer
    chosen = transformer._gradient_checkpointing_func._chosen if transformer.gradient_checkpointing else ()
    blocks = [*transformer.transformer_blocks, *transformer.single_transformer_blocks]
    assert sum(block in chosen for block in blocks) == loaded.num_recomputed_blocks(spec)


def test_four_blocks_are_measured_without_recomputation_whatever_the_whole_model_needs(bench: GpuBench) -> None:
    loaded = loaded_model(bench, bench.shapes.others[0])
    step = family_step(loaded, "uncompiled")
    assert loaded.num_recomputed_blocks(loaded.spec(step.size, members=step.batch, **step.sections)) == 0


def test_all_weights_are_planned_as_all_weights(bench: GpuBench) -> None:
    loaded = main_model(bench)
    spec = loaded.spec(loaded.model.sizes[0], members=2, tuning=Tuning.FULL, deepspeed={"config": "zero1"})
    assert loaded.workload(spec).trained_parameters == loaded.profile.parameters


def test_what_compiles_comes_last_and_the_rest_leaves_it_time(
    bench: GpuBench, whole_flux: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward_passes, "on_cpu", lambda: False)
    bench.shapes = FULL
    passes = [DIFFUSERS_CHOICE if one.is_plain else one.performance for one in forward.variants(bench)]
    flux = replace(whole_flux, model=FULL.main)
    steps = [flux.spec(one.size, members=one.batch, **one.sections) for one in training.steps(bench, flux)]
    for stage, chosen in (("forward", passes), ("training", [spec.performance for spec in steps])):
        compiled = [forward_passes.compiling_seconds(each) > 0 for each in chosen]
        assert compiled == sorted(compiled) and any(compiled), stage
        _, budget = BUDGETS[stage]
        assert forward_passes.needed_seconds(chosen[0]) == forward_passes.KEPT_SECONDS < budget
        assert forward_passes.needed_seconds(chosen[-1]) == forward_passes.COMPILING_SECONDS
