"""With each named configuration a rank takes the same steps, aborts without a trace and resumes bitwise."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.engine.trainer.gradient_recorder import relative_distance
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.deepspeed_config import FOLDER, deepspeed_config
from worker.engine.types import GroupBatch

NUM_PAIRS = 24
CONFIGS = pytest.mark.parametrize("config", list(ZeroConfig))
QUICK = (ZeroConfig.ZERO0, ZeroConfig.ZERO2_CPUOFFLOAD, ZeroConfig.ZERO3, ZeroConfig.ZERO3_CPUOFFLOAD)
"""Configurations that are always tested; each of the others differs from one of these in one setting."""
TrainerMaker = Callable[..., TrainerRank]


def step(trainer: TrainerRank, groups: list[GroupBatch]) -> float:
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    return trainer.commit()["grad_norm"]


def weights(trainer: TrainerRank) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in trainer.version(0).tensors.values()])


def test_every_configuration_has_a_file_of_its_name() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == {config.value for config in ZeroConfig}


@CONFIGS
def test_a_name_says_what_its_file_does(config: ZeroConfig) -> None:
    zero = json.loads((FOLDER / f"{config.value}.json").read_text())["zero_optimization"]
    assert zero["stage"] == config.stage
    assert ("offload_optimizer" in zero) is config.offloads_optimizer
    assert ("offload_param" in zero) is config.offloads_weights


@pytest.mark.parametrize(
    "config",
    [pytest.param(config, marks=[] if config in QUICK else [pytest.mark.slow]) for config in ZeroConfig],
)
def test_every_configuration_takes_the_same_steps_and_an_abort_leaves_no_trace(
    make_trainer: TrainerMaker, groups: list[GroupBatch], tmp_path: Path, config: ZeroConfig
) -> None:
    plain, trainer = make_trainer(), make_trainer(deepspeed={"config": config})
    assert trainer._deepspeed_engine.zero_optimization_stage() == config.stage
    assert step(trainer, groups) == pytest.approx(step(plain, groups), rel=1e-4)
    assert relative_distance(weights(trainer), weights(plain)) < 1e-4
    trainer.save_checkpoint(str(tmp_path / "one"), {})
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.abort()
    expected = step(trainer, groups), trainer.version(1).sha256
    resumed = make_trainer(deepspeed={"config": config})
    resumed.load_checkpoint(str(tmp_path / "one"))
    assert (step(resumed, groups), resumed.version(1).sha256) == expected


def test_overrides_reach_deepspeed_and_leave_the_rest(make_spec: Callable[..., RunSpec]) -> None:
    overrides = {"zero_optimization": {"sub_group_size": 5000, "overlap_comm": True}}
    spec = make_spec(deepspeed={"config": "zero3", "overrides": overrides})
    changed = deepspeed_config(spec, 10_000)["zero_optimization"]
    plain = deepspeed_config(make_spec(deepspeed={"config": "zero3"}), 10_000)["zero_optimization"]
    assert {name for name in changed if changed[name] != plain[name]} == {"sub_group_size", "overlap_comm"}


@pytest.mark.slow
def test_steps_do_not_depend_on_the_size_of_sub_groups(make_trainer: TrainerMaker, groups: list[GroupBatch]) -> None:
    one_group = make_trainer(deepspeed={"config": "zero3"}, optimizer={"max_grad_norm": 1e9})
    many_groups = make_trainer(
        deepspeed={"config": "zero3", "overrides": ["zero_optimization.sub_group_size=1000"]},
        optimizer={"max_grad_norm": 1e9},
    )
    for trainer in (one_group, many_groups):
        step(trainer, groups)
    assert relative_distance(weights(many_groups), weights(one_group)) < 1e-6
