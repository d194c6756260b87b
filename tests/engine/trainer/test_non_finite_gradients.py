"""A gradient that is NaN or infinite is never applied, published or saved: in every stage, precision and tuning."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from tests.engine.rank_processes import run_rank_processes
from tests.engine.sharing_embeddings import trainer_rank
from tests.slow_params import slow_but
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import NonFiniteError
from worker.engine.models.sharded_parameters import gathered
from worker.engine.sync.packing import snapshot
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

NUM_PAIRS = 24
TrainerMaker = Callable[..., TrainerRank]
QUICK = (ZeroConfig.ZERO0, ZeroConfig.ZERO2, ZeroConfig.ZERO3_CPUOFFLOAD)
CASES = [
    pytest.param(
        config,
        dtype,
        tuning,
        id=f"{config}-{dtype}-{tuning}",
        # Some are always tested where DeepSpeed by itself would apply such gradients; the others in `make test-full`.
        marks=()
        if config in QUICK and ((dtype, tuning) == ("bf16", "full") or config.stage == 0)
        else pytest.mark.slow,
    )
    for config in ZeroConfig
    for dtype in ("fp32", "bf16")
    for tuning in ("lora", "full")
    # The spec refuses full fine-tuning in bf16 without ZeRO, which keeps the fp32 master weights.
    if not (config.stage == 0 and dtype == "bf16" and tuning == "full")
]


@contextmanager
def gradient_element_set_to(trainer: TrainerRank, value: float) -> Iterator[None]:
    """Inside the context, one element of one tensor's gradient is `value`."""

    def change(gradient: torch.Tensor) -> torch.Tensor:
        changed = gradient.clone()
        changed.view(-1)[-1] = value
        return changed

    hook = list(trainer._trainable.values())[-1].register_hook(change)
    yield
    hook.remove()


def inner_optimizer(trainer: TrainerRank) -> torch.optim.Optimizer:
    """Torch's AdamW, which DeepSpeed's optimizer wraps in ZeRO 1 to 3."""
    optimizer = trainer._deepspeed_engine.optimizer
    return getattr(optimizer, "optimizer", optimizer)


def state_is_finite(trainer: TrainerRank) -> bool:
    """Whether all master weights and moments are finite."""
    optimizer = inner_optimizer(trainer)
    masters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    moments = [moment for state in optimizer.state.values() for moment in state.values()]
    return all(bool(torch.isfinite(tensor).all()) for tensor in [*masters, *moments])


@pytest.mark.parametrize("value", [pytest.param(math.inf, marks=pytest.mark.slow), math.nan])
@pytest.mark.parametrize(("config", "dtype", "tuning"), CASES)
def test_a_gradient_that_is_not_finite_is_never_applied(
    make_spec: Callable[..., RunSpec],
    tiny_checkpoint: str,
    process_group: None,
    groups: list[GroupBatch],
    config: ZeroConfig,
    dtype: str,
    tuning: str,
    value: float,
) -> None:
    spec = make_spec(deepspeed={"config": config}, base_model={"dtype": dtype}, tuning=tuning)
    trainer, undisturbed = (trainer_rank(spec, tiny_checkpoint) for _ in range(2))
    for each in (trainer, undisturbed):
        each.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        each.commit()
    before = trainer.version(1).sha256
    with gradient_element_set_to(trainer, value):
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        with pytest.raises(NonFiniteError, match="`gradient` must be finite"):
            trainer.commit()
    assert trainer.version(1).sha256 == before
    assert state_is_finite(trainer)
    for each in (trainer, undisturbed):
        each.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        assert math.isfinite(each.commit()["grad_norm"])
    assert trainer.version(2).sha256 == undisturbed.version(2).sha256, "the next step is as if it had never happened"


@pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
def test_weights_that_are_not_finite_are_neither_published_nor_saved(
    make_trainer: TrainerMaker, stage: int, tmp_path: Path
) -> None:
    trainer = make_trainer(deepspeed={"config": f"zero{stage}"})
    parameter = list(trainer._trainable.values())[-1]
    with gathered([parameter], written=True), torch.no_grad():
        parameter.view(-1)[0] = math.nan
    with pytest.raises(NonFiniteError, match="`weights` must be finite, got nan"):
        trainer.snapshot()
    with pytest.raises(NonFiniteError, match="`weights` must be finite, got nan"):
        trainer.save_checkpoint(f"file://{tmp_path}/checkpoint", {})
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.parametrize("stage", slow_but([0, 3], range(4)))
def test_moments_that_are_not_finite_are_not_saved(
    make_trainer: TrainerMaker, groups: list[GroupBatch], stage: int, tmp_path: Path
) -> None:
    trainer = make_trainer(deepspeed={"config": f"zero{stage}"})
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    moments = next(iter(inner_optimizer(trainer).state.values()))["exp_avg"]
    moments.view(-1)[0] = math.inf
    with pytest.raises(NonFiniteError, match="`optimizer state` must be finite, got inf"):
        trainer.save_checkpoint(f"file://{tmp_path}/checkpoint", {})
    assert not (tmp_path / "checkpoint").exists()


def test_the_error_of_a_snapshot_names_the_tensor() -> None:
    with pytest.raises(NonFiniteError, match="got inf at b"):
        snapshot({"a": torch.ones(3), "b": torch.tensor([1.0, math.inf]), "c": torch.ones(2)})


@pytest.mark.slow
def test_two_ranks_both_fail_where_one_has_a_value_that_is_not_finite(
    make_spec: Callable[..., RunSpec], tiny_checkpoint: str, groups: list[GroupBatch], tmp_path: Path
) -> None:
    task = {"spec": make_spec(), "path": tiny_checkpoint, "groups": groups}
    first, last = run_rank_processes("tests.engine.trainer.non_finite_worker", task, tmp_path)
    for stage in (0, 1, 2, 3):
        for rank in (first[stage], last[stage]):
            assert "`gradient` must be finite" in rank["step"], stage
            assert rank["is_unchanged"], stage
            assert math.isfinite(rank["norm"]), stage
        assert "`optimizer state` must be finite" in last[stage]["save"], stage
        assert "at another trainer rank" in first[stage]["save"], stage
        assert not (tmp_path / f"checkpoint-{stage}").exists()
