"""On fixed trajectories, any number of ranks and any switch give the same gradient and weights, but for rounding.

Tested in float64 too, where rounding cannot hide a term that is missing or counted twice. DeepSpeed does not reduce
float64, so a rank's share of the gradient is read before the reduction, and steps are taken on one rank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.gradient_recorder import relative_distance
from tests.slow_params import slow_but
from worker.contracts.run_spec import RunSpec
from worker.engine.models.precision import DTYPES
from worker.engine.sync.packing import pack
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard
from worker.scheduling.core.messages import MicroBatchKey

# 5 members in chunks of 3 and 2 with 3 denoising steps each: a group has 6 micro-batches, which 4 ranks do not divide.
SECTIONS: dict[str, Any] = {
    "batch": {"group_size": 5, "micro_batch_size": 3},
    "optimizer": {"max_grad_norm": 1e9},
    "algorithm": {"clip_range": 0.02},
}
NUM_PAIRS = 30
MICRO_BATCHES = tuple(MicroBatchKey(group, index) for group in (0, 1) for index in range(6))
TSP = pytest.mark.parametrize("tsp", [True, False])
Arrival = Callable[[list[GroupBatch]], list[list[GroupBatch]]]
ARRIVALS: dict[str, Arrival] = {
    "at once": lambda groups: [groups],
    "one at a time": lambda groups: [[group] for group in groups],
    "backwards": lambda groups: [[group] for group in reversed(groups)],
}
PRECISIONS = pytest.mark.parametrize(
    ("precision", "bound"), slow_but([("float64", 1e-10)], [("float64", 1e-10), ("fp32", 1e-4)])
)


@dataclass(frozen=True, slots=True)
class FixedBatch:
    """Trajectories, and the version that is trained on them, which is not the one that drew them."""

    groups: list[GroupBatch]
    version: PublishedShard


@pytest.fixture(scope="module")
def fixed(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], behaviour: PublishedShard) -> FixedBatch:
    spec = make_spec(**SECTIONS)
    return FixedBatch(draw_groups(spec, tiny_checkpoint, behaviour), perturbed_version(spec, tiny_checkpoint, seed=2))


@pytest.fixture
def make_rank(
    tiny_checkpoint: str,
    make_spec: Callable[..., RunSpec],
    fixed: FixedBatch,
    process_group: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., TrainerRank]:
    """Makes one rank of several in this process: it trains its own share, and gradients are not reduced."""

    def make(precision: str, rank: int = 0, world_size: int = 1, *, tsp: bool = True) -> TrainerRank:
        version = fixed.version
        if precision == "float64":
            monkeypatch.setitem(DTYPES, "fp32", torch.float64)
            version = pack({name: tensor.double() for name, tensor in version.tensors.items()}, 0)
        spec = make_spec(**SECTIONS, pipeline={"tsp": tsp})
        made = trainer_rank(spec, tiny_checkpoint, rank, world_size)
        made.load_version(version)
        monkeypatch.setattr(made._deepspeed_engine, "buffered_allreduce_fallback", lambda: None)
        return made

    return make


def gradient(trainer: TrainerRank, calls: list[list[GroupBatch]]) -> torch.Tensor:
    for call in calls:
        accumulate_share(trainer, call, num_pairs_total=NUM_PAIRS, fresh=False)
    gradients = [parameter.grad for parameter in trainer._trainable.values()]
    return torch.cat([gradient.flatten() for gradient in gradients if gradient is not None])


def one_pair_at_a_time(make_spec: Callable[..., RunSpec], trainer: TrainerRank, fixed: FixedBatch) -> torch.Tensor:
    """The gradient of a loop over single pairs, which every way to form micro-batches must equal."""
    trainer._spec = make_spec(**{**SECTIONS, "batch": {"group_size": 5, "micro_batch_size": 1}})
    return gradient(trainer, [fixed.groups])


@TSP
@PRECISIONS
@pytest.mark.parametrize("world_size", slow_but([2], [1, 2, 4]))
def test_the_mean_of_the_ranks_gradients_is_the_gradient_of_the_loop_over_single_pairs(
    make_rank: Callable[..., TrainerRank],
    make_spec: Callable[..., RunSpec],
    fixed: FixedBatch,
    precision: str,
    bound: float,
    world_size: int,
    tsp: bool,
) -> None:
    expected = one_pair_at_a_time(make_spec, make_rank(precision), fixed)
    assert expected.dtype is (torch.float64 if precision == "float64" else torch.float32)
    gradients = [
        gradient(make_rank(precision, rank, world_size, tsp=tsp), [fixed.groups]) for rank in range(world_size)
    ]
    assert relative_distance(torch.stack(gradients).mean(0), expected) < bound


@PRECISIONS
@pytest.mark.parametrize("num_of_first", slow_but([0, 2], [0, 1, 2, 11]))
def test_the_mean_of_two_ranks_gradients_is_that_of_one_rank_however_unevenly_they_share(
    make_rank: Callable[..., TrainerRank], fixed: FixedBatch, precision: str, bound: float, num_of_first: int
) -> None:
    """Of 12 micro-batches one rank takes none, 1, 2 (1 against 5) or all but 1. Their sizes differ, so a rank that
    weighs micro-batches alike would be found out."""
    expected = gradient(make_rank(precision), [fixed.groups])
    own = MICRO_BATCHES[:num_of_first], MICRO_BATCHES[num_of_first:]
    shares = [share_gradient(make_rank(precision, rank, 2), fixed.groups, own[rank]) for rank in (0, 1)]
    assert relative_distance(torch.stack(shares).mean(0), expected) < bound


def share_gradient(
    trainer: TrainerRank, groups: list[GroupBatch], micro_batches: tuple[MicroBatchKey, ...]
) -> torch.Tensor:
    """The gradient of these micro-batches as this rank contributes it, 0 without any."""
    trainer.accumulate(groups, micro_batches, num_pairs_total=NUM_PAIRS, fresh=False)
    parameters = trainer._trainable.values()
    found = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    return torch.cat([each.flatten() for each in found])


@TSP
@PRECISIONS
def test_weights_after_two_steps_do_not_depend_on_how_the_groups_arrived(
    make_rank: Callable[..., TrainerRank], fixed: FixedBatch, precision: str, bound: float, tsp: bool
) -> None:
    found = []
    for arrival in ARRIVALS.values():
        trainer = make_rank(precision, tsp=tsp)
        for _ in range(2):
            for call in arrival(fixed.groups):
                accumulate_share(trainer, call, num_pairs_total=NUM_PAIRS, fresh=False)
            trainer.commit()
        found.append(torch.cat([parameter.detach().flatten() for parameter in trainer._trainable.values()]))
    for weights in found[1:]:
        assert relative_distance(weights, found[0]) < bound


def test_on_one_rank_no_switch_and_no_bundling_changes_a_bit(
    make_rank: Callable[..., TrainerRank], fixed: FixedBatch
) -> None:
    found = {
        (name, tsp): gradient(make_rank("fp32", tsp=tsp), ARRIVALS[name](fixed.groups))
        for name in ("at once", "one at a time")
        for tsp in (True, False)
    }
    expected, *others = found.values()
    assert all(torch.equal(other, expected) for other in others)
