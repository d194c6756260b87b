"""What several cards compute together is started on the right cards, and told row by row, failures included."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.bench.gpu.bench_models import loaded_model, main_model
from tests.bench.gpu.bench_shapes import FULL
from tests.bench.gpu.gang import Gang, GangError
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.spread_ranks import planned_seconds, spread_models, spread_spec
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages.spread import largest_lane
from tests.bench.gpu.trainer_ranks import CASES, WITH_TSP, WITHOUT_TSP, RankCase, _passes, rank_spec
from tests.bench.rank_devices import device_of_rank, inherited_mask
from tests.engine.gpu_bench.speaking_ranks import FAILS
from tests.slow_params import slow_but
from worker.contracts.performance import ContextParallel
from worker.contracts.sections import BaseModelSpec
from worker.engine.trainer.rank import TrainerRank
from worker.scheduling.profiles.hardware import H100
from worker.scheduling.profiles.known_models import profile_of

ALL_WEIGHTS = RankCase("all weights", 3, tuning="full")
RANKS = "tests.engine.gpu_bench.speaking_ranks"


def test_rows_of_a_gang_come_without_what_libraries_print(tmp_path: Path) -> None:
    with Gang(RANKS, ["well"], size=2, port=0, folder=tmp_path) as gang:
        assert gang.row(60) == {"rank": 0, "size": 2}


def test_a_rank_that_fails_is_told_with_its_own_words_after_the_rows_before_it(tmp_path: Path) -> None:
    with Gang(RANKS, [FAILS], size=2, port=0, folder=tmp_path) as gang:
        assert gang.row(60) == {"rank": 0, "size": 2}
        with pytest.raises(GangError, match=r"ended with[^$]*the last rank's own words"):
            gang.row(60)


def test_a_gang_that_says_nothing_more_is_told(tmp_path: Path) -> None:
    with Gang(RANKS, ["well"], size=2, port=0, folder=tmp_path) as gang:
        gang.row(60)
        with pytest.raises(GangError, match="did not answer in time"):
            gang.row(0.0)


@pytest.mark.parametrize(
    ("mask", "expected"),
    [(None, ["0", "1"]), ("2,5", ["2", "5"]), ("GPU-8f2a, GPU-77c1,GPU-0", ["GPU-8f2a", "GPU-77c1"])],
)
def test_ranks_take_the_cards_of_the_mask_that_they_inherit(mask: str | None, expected: list[str]) -> None:
    environment = {} if mask is None else {"CUDA_VISIBLE_DEVICES": mask}
    found = inherited_mask(environment, ["CUDA_VISIBLE_DEVICES"])
    assert [device_of_rank(found, rank) for rank in range(2)] == expected


def test_a_mask_of_fewer_cards_than_ranks_is_refused() -> None:
    with pytest.raises(IndexError):
        device_of_rank("3", 1)


@pytest.mark.parametrize("case", slow_but([ALL_WEIGHTS], [RankCase("LoRA", 3), ALL_WEIGHTS]))
def test_zero_3_trains_the_weights_that_lie_on_the_device(bench: GpuBench, process_group: None, case: RankCase) -> None:
    """One rank holds all of the shards."""
    loaded = main_model(bench)
    spec = rank_spec(loaded, case)
    with resident(loaded.resident):
        transformer = TrainerRank(spec, loaded.resident.path, 0, 1)._policy.model.transformer
    shards = {name.replace(".base_layer", ""): each for name, each in transformer.named_parameters()}
    for name, weights in loaded.resident.transformer.named_parameters():
        torch.testing.assert_close(shards[name].ds_tensor[: weights.numel()], weights.detach().flatten())


def test_all_weights_are_trained_on_a_copy_that_the_next_case_does_not_see(
    bench: GpuBench, process_group: None
) -> None:
    loaded = main_model(bench)
    spec = rank_spec(loaded, RankCase("all weights", 1, tuning="full"))
    own = loaded.resident.with_own_transformer()
    with resident(own):
        TrainerRank(spec, own.path, 0, 1)
    assert all(each.requires_grad for each in own.transformer.parameters())
    assert not any(each.requires_grad for each in loaded.resident.transformer.parameters())


def test_time_step_parallelism_divides_three_groups_more_evenly_over_two_ranks(bench: GpuBench) -> None:
    of_name = {case.name: rank_spec(main_model(bench), case) for case in CASES}
    assert (_passes(of_name[WITH_TSP], 2), _passes(of_name[WITHOUT_TSP], 2)) == (3, 4)


def test_the_widest_lane_divides_heads_and_tokens_of_all_models() -> None:
    models = spread_models(FULL)
    assert {model.name for model in models} == {"FLUX.1-dev", "Wan2.1-T2V-14B", "Qwen-Image"}
    assert [largest_lane(models, cards) for cards in (1, 2, 3, 6, 8)] == [1, 2, 2, 4, 8]


def test_a_prediction_is_planned_to_take_less_on_more_cards_and_never_the_nth_part(bench: GpuBench) -> None:
    model = replace(bench.shapes.main, hub_id=FULL.main.hub_id, sizes=FULL.main.sizes)
    loaded = replace(loaded_model(bench, model), profile=profile_of(BaseModelSpec(path=model.hub_id)))
    spec = spread_spec(loaded)
    assert spec.kernels.context_parallel is ContextParallel.ULYSSES
    alone, two = (planned_seconds(loaded, spec, H100, size) for size in (1, 2))
    assert alone / 2 < two < alone
