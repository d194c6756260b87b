"""Two ranks of full fine-tuning train as one does, each publishes its shards, and a puller binds those of both."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_processes import run_rank_processes
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.engine.stacked import latents_of
from tests.engine.trainer.full_tuning_worker import CASES, Case, spec_of, step
from tests.engine.trainer.gradient_recorder import relative_distance
from tests.engine.trainer.lent_generation import generate_fragment
from worker.contracts.run_spec import RunSpec
from worker.engine.sync.shards import LoadedVersion

pytestmark = pytest.mark.slow
EACH_CASE = pytest.mark.parametrize("case", CASES, ids="-".join)
NUM_PAIRS = 24
SECTIONS: dict[str, Any] = {
    "tuning": "full",
    "algorithm": {"kl_coefficient": 0.1},
    "ema": {"decay": 0.9, "every_num_optimizer_steps": 1},
    "optimizer": {"max_grad_norm": 1e9},
    "pipeline": {"tag": "greedy"},
}


@pytest.fixture(scope="module")
def task(make_spec: Callable[..., RunSpec], tiny_checkpoint: str) -> dict[str, Any]:
    given = make_spec(**SECTIONS)
    specs = {dtype: spec_of(given, ("zero1", dtype)) for dtype in ("fp32", "bf16")}
    versions = {dtype: perturbed_version(spec, tiny_checkpoint, seed=1) for dtype, spec in specs.items()}
    groups = {dtype: draw_groups(spec, tiny_checkpoint, versions[dtype]) for dtype, spec in specs.items()}
    return {"spec": given, "path": tiny_checkpoint, "versions": versions, "groups": groups, "num_pairs": NUM_PAIRS}


@pytest.fixture(scope="module")
def ranks(task: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> list[dict[Case, dict[str, Any]]]:
    return run_rank_processes("tests.engine.trainer.full_tuning_worker", task, tmp_path_factory.mktemp("ranks"))


def joined(ranks: list[dict[Case, dict[str, Any]]], case: Case) -> LoadedVersion:
    """The version that both ranks published together."""
    found = {index: shard for rank in ranks for index, shard in rank[case]["shards"].items()}
    return LoadedVersion(loaded=tuple(found[index] for index in sorted(found)))


@EACH_CASE
def test_each_rank_publishes_some_shards_and_together_they_are_the_version(
    ranks: list[dict[Case, dict[str, Any]]], task: dict[str, Any], case: Case
) -> None:
    indices = [set(rank[case]["shards"]) for rank in ranks]
    assert indices[0].isdisjoint(indices[1]) and min(map(len, indices)) > 1
    assert indices[0] | indices[1] == set(range(ranks[0][case]["num_shards"]))
    version = joined(ranks, case)
    assert version.sha256 == ranks[0][case]["version"].sha256 == ranks[1][case]["version"].sha256
    sampler = load_sampler(spec_of(task["spec"], case), task["path"])
    receipt = sampler.pull(version)
    assert (receipt.sha256, receipt.num_bound_tensors) == (version.sha256, len(version.tensors))
    assert version.evaluated is not None and version.evaluated.sha256 != version.sha256
    for name, average in version.evaluated.tensors.items():
        before = task["versions"][case[1]].tensors[name]
        expected = 0.9 * before.float() + 0.1 * version.tensors[name].float()
        torch.testing.assert_close(average.float(), expected, rtol=0.02, atol=1e-3)


@EACH_CASE
def test_two_ranks_take_the_step_that_one_takes(
    ranks: list[dict[Case, dict[str, Any]]], task: dict[str, Any], case: Case, process_group: None
) -> None:
    dtype = case[1]
    trainer = trainer_rank(spec_of(task["spec"], case), task["path"])
    trainer.load_version(task["versions"][dtype])
    norm = step(trainer, task["groups"][dtype], NUM_PAIRS)["grad_norm"]
    for rank in ranks:
        assert rank[case]["norm"] == pytest.approx(norm, rel=1e-4 if dtype == "fp32" else 2e-2)
    if dtype == "fp32":
        start, one, two = task["versions"][dtype].tensors, trainer.version(1).tensors, joined(ranks, case).tensors
        updates = [torch.cat([(end[name] - start[name]).flatten() for name in sorted(end)]) for end in (one, two)]
        # AdamW's first update is the sign of the gradient, which rounding can flip where that is nearly zero.
        assert relative_distance(updates[1], updates[0]) < 0.05


@EACH_CASE
def test_ranks_replay_what_was_drawn_and_lent_ranks_draw_a_rollout_lanes_bits(
    ranks: list[dict[Case, dict[str, Any]]], task: dict[str, Any], case: Case
) -> None:
    sampler = load_sampler(spec_of(task["spec"], case), task["path"])
    sampler.pull(task["versions"][case[1]])
    expected = generate_fragment(sampler).trajectories
    assert expected is not None
    for rank in ranks:
        assert torch.equal(rank[case]["latents"], latents_of(expected))
        assert all(maxima["ratio_deviation"] <= 1e-4 for maxima in rank[case]["gate"])


@EACH_CASE
def test_a_resumed_gang_goes_on_bit_for_bit(ranks: list[dict[Case, dict[str, Any]]], case: Case) -> None:
    found = {rank[case][when] for rank in ranks for when in ("undisturbed", "resumed")}
    assert len(found) == 1
    assert ranks[0][case]["state"] == ranks[1][case]["state"] == {"case": list(case)}
