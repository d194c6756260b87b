"""Trainer lanes of two GPUs take the optimizer steps of one GPU but for rounding, over gloo: each GPU has the part of
every gradient that its tokens have. Meanwhile they generate what one GPU generates."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.context_parallel.spread_training_worker import GPUS_PER_LANE, Case, steps
from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from tests.engine.rank_processes import run_rank_processes
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.gradient_recorder import relative_distance
from worker.contracts.context_parallel import training_kernels, training_problem
from worker.contracts.names import ModelFamily, Tuning
from worker.contracts.performance import (
    SPREADABLE_BACKENDS,
    SPREADABLE_FAMILIES,
    SPREADABLE_WITH_MASKS,
    AttentionBackend,
    Compilation,
)
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import BaseModelSpec
from worker.engine.context_parallel.spreading import check_trainable
from worker.engine.errors import ModelLoadError
from worker.engine.models.registry import load_model

WORKER = "tests.engine.context_parallel.spread_training_worker"
AOT = Compilation.AOT_EAGER
TOLERANCE = 1e-4
"""Of weights and norms after the steps, relative to what the steps change, and of latents."""
QWEN = Case(family=ModelFamily.QWEN_IMAGE, checkpointing=1)
"""Its prompts are not padded: two GPUs can divide the 140 tokens of the first, but not the 141 of the second."""


def task_of(case: Case, checkpoint_of: CheckpointOf) -> dict[str, Any]:
    spec, path = case.spec, checkpoint_of(case.family)
    version = perturbed_version(spec, path, seed=1)
    return {"path": path, "version": version, "groups": draw_groups(spec, path, version)}


def flat(version: Any, names: list[str]) -> torch.Tensor:
    return torch.cat([version.tensors[name].flatten() for name in names])


def assert_same_steps(cases: list[Case], checkpoint_of: CheckpointOf, folder: Path, *, num_lanes: int) -> None:
    tasks = {case: task_of(case, checkpoint_of) for case in cases}
    ranks = run_rank_processes(WORKER, tasks, folder, world_size=num_lanes * GPUS_PER_LANE)
    for case, task in tasks.items():
        alone = trainer_rank(case.spec, task["path"])
        alone.load_version(task["version"])
        expected, found = steps(alone, task), [rank[case] for rank in ranks]
        before = task["version"]
        names = list(before.tensors)
        moved = flat(expected["version"], names) - flat(before, names)
        for one in found:
            assert one["version"].sha256 == found[0]["version"].sha256 == one["restored"], case
            assert relative_distance(flat(one["version"], names) - flat(before, names), moved) < TOLERANCE, case
            assert one["grad_norm"] == pytest.approx(expected["grad_norm"], rel=TOLERANCE), case
            torch.testing.assert_close(one["lent"], expected["lent"], rtol=0, atol=TOLERANCE)
        of_lanes = found[::GPUS_PER_LANE]
        assert sum(one["num_pairs"] for one in of_lanes) == expected["num_pairs"], "of each lane once"
        published = sorted(index for one in found for index in one["published"])
        assert published == list(range(of_lanes[0]["num_shards"])), "every shard once"
        assert not any(one["published"] for number, one in enumerate(found) if number % GPUS_PER_LANE)


@pytest.mark.usefixtures("process_group")
def test_a_trainer_lane_of_two_gpus_takes_the_steps_of_one(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    """Also on prompts that two GPUs cannot divide, which are padded."""
    cases = [Case(family=ModelFamily.WAN, config="zero2"), replace(QWEN, guidance_scale=2.0)]
    assert_same_steps(cases, checkpoint_of, tmp_path, num_lanes=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize("tuning", Tuning)
def test_two_lanes_of_two_gpus_take_the_steps_of_one_gpu_in_every_stage(
    checkpoint_of: CheckpointOf, tmp_path: Path, tuning: Tuning
) -> None:
    """In stages 0 and 1 the lanes take micro-batches by themselves."""
    cases = [Case(config=f"zero{stage}", tuning=tuning) for stage in range(4)]
    assert_same_steps(cases, checkpoint_of, tmp_path, num_lanes=2)


@pytest.mark.slow
@pytest.mark.usefixtures("process_group")
def test_every_family_with_a_plan_trains_on_two_gpus(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    """Qwen-Image also where a batched pass masks the shorter prompt by itself, and in ZeRO 3."""
    cases = [Case(family=family, checkpointing=1) for family in sorted(SPREADABLE_FAMILIES)]
    cases += [replace(QWEN, guidance_scale=2.0, batched_cfg=True), replace(QWEN, config="zero3", tuning=Tuning.FULL)]
    assert_same_steps(cases, checkpoint_of, tmp_path, num_lanes=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("process_group", "restored_libraries")
def test_captured_blocks_train_on_two_gpus(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    """Also where they are recomputed: the exchange of both directions is part of their graphs."""
    captured = Case(compilation=AOT)
    cases = [captured, replace(captured, family=ModelFamily.WAN, checkpointing=1), replace(QWEN, compilation=AOT)]
    assert_same_steps(cases, checkpoint_of, tmp_path, num_lanes=1)


@pytest.mark.parametrize("family", ModelFamily)
def test_a_family_is_trained_on_several_gpus_or_refused_with_the_reason(
    checkpoint_of: CheckpointOf, family: ModelFamily
) -> None:
    model = load_model(BaseModelSpec(family=family), checkpoint_of(family), parts=frozenset())
    spec = Case(family=family).spec
    if family in SPREADABLE_FAMILIES:
        check_trainable(model, spec, GPUS_PER_LANE)
        return
    with pytest.raises(ModelLoadError, match="must have 1 GPU, got 2: its passes are not spread"):
        check_trainable(model, spec, GPUS_PER_LANE)


def test_prompts_whose_tokens_the_gpus_do_not_divide_are_refused(checkpoint_of: CheckpointOf) -> None:
    path = checkpoint_of(ModelFamily.FLUX)
    model = load_model(BaseModelSpec(family=ModelFamily.FLUX), path, parts=frozenset())
    spec = run_spec_of(ModelFamily.FLUX, sampling={"max_sequence_length": 255})
    with pytest.raises(ModelLoadError, match=r"must be a multiple of the 2 GPUs of a trainer lane, got 255"):
        check_trainable(model, spec, GPUS_PER_LANE)


def spec_with_attention(family: ModelFamily, backend: AttentionBackend) -> RunSpec:
    return run_spec_of(
        family, base_model={"dtype": "bf16"}, deepspeed={"config": "zero1"}, performance={"attention": backend}
    )


@pytest.mark.parametrize("backend", sorted(SPREADABLE_BACKENDS))
def test_padded_prompts_train_with_attention_that_takes_a_mask_or_are_refused(backend: AttentionBackend) -> None:
    spec = spec_with_attention(ModelFamily.QWEN_IMAGE, backend)
    assert training_problem(spec, 1) is None and training_kernels(spec, 1).attention is backend
    if backend in SPREADABLE_WITH_MASKS:
        chosen = AttentionBackend.DEFAULT if backend is AttentionBackend.AUTO else backend
        assert training_problem(spec, 2) is None and training_kernels(spec, 2).attention is chosen
        return
    problem = training_problem(spec, 2)
    assert problem is not None and f"`performance.attention` {backend} takes no mask there" in problem


def test_prompts_that_are_never_padded_here_keep_the_attention_that_is_fastest_on_their_card() -> None:
    spec = spec_with_attention(ModelFamily.FLUX, AttentionBackend.AUTO)
    assert training_kernels(spec, 2).attention is AttentionBackend.AUTO
