"""Two ranks of full fine-tuning hold as much memory as was planned, in every ZeRO stage and both precisions."""

from collections.abc import Callable
from typing import Any

import pytest
from diffusers import FluxTransformer2DModel

from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.full_state_worker import CASES, Case
from worker.contracts.run_spec import RunSpec
from worker.engine.types import GroupBatch
from worker.scheduling.planning.trainer_state import trainer_state

pytestmark = pytest.mark.slow
WORLD_SIZE = 2


@pytest.fixture(scope="module")
def ranks(
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    groups: list[GroupBatch],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[dict[Case, dict[str, int]]]:
    task: dict[str, Any] = {"spec": make_spec(), "path": tiny_checkpoint, "groups": groups}
    return run_rank_processes("tests.engine.trainer.full_state_worker", task, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("case", CASES)
def test_the_state_of_full_fine_tuning_takes_the_memory_that_was_planned(
    ranks: list[dict[Case, dict[str, int]]], tiny_checkpoint: str, case: Case
) -> None:
    dtype, stage = case
    transformer = FluxTransformer2DModel.from_pretrained(tiny_checkpoint, subfolder="transformer")
    num_trained = sum(parameter.numel() for parameter in transformer.parameters())
    planned = trainer_state(
        zero_stage=stage,
        frozen_bytes=0,
        num_trained=num_trained,
        num_ranks=WORLD_SIZE,
        weight_bytes={"fp32": 4, "bf16": 2}[dtype],
    )
    for rank in ranks:
        measured = rank[case]
        assert measured["weights"] == pytest.approx(planned.weights, rel=0.1)
        assert measured["optimizer"] == pytest.approx(planned.optimizer, rel=0.1)
        # Buckets may have been freed.
        assert measured["gradients"] <= planned.gradients * 1.1
