"""Ranks that take different numbers of micro-batches, or none, take the step of one rank that takes all of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_processes import each_case, run_rank_processes, selected_cases
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.gradient_recorder import relative_distance
from tests.engine.trainer.uneven_worker import CASES, MICRO_BATCHES, NUM_STEPS, Case, share_of, spec_of
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, UpdateStats
from worker.scheduling.core.messages import MicroBatchKey

# A group has 9 pairs in 3 micro-batches, each one denoising step of all members; fragments of 2 and 1 members.
SECTIONS: dict[str, Any] = {
    "batch": {"group_size": 3, "micro_batch_size": 4, "fragment_size": 1},
    "algorithm": {"clip_range": 0.02, "kl_coefficient": 0.5},
}
NUM_PAIRS = 18
Ranks = list[dict[Case, dict[str, Any]]]
Expected = dict[tuple[str, Tuning], tuple[TrainerRank, UpdateStats, dict[str, float]]]
QUICK = {("zero0", Tuning.LORA, 1), ("zero1", Tuning.LORA, 6), ("zero1", Tuning.FULL, 0)}
EACH_CASE = each_case(
    CASES, of_full_tests=[case for case in CASES if case not in QUICK], ids=lambda case: "-".join(map(str, case))
)


@pytest.fixture(scope="module")
def task(make_spec: Callable[..., RunSpec], tiny_checkpoint: str) -> dict[str, Any]:
    specs = {tuning: make_spec(**SECTIONS, tuning=tuning) for tuning in Tuning}
    drawn_by = {tuning: perturbed_version(spec, tiny_checkpoint, seed=1) for tuning, spec in specs.items()}
    return {
        "specs": specs,
        "path": tiny_checkpoint,
        "versions": {tuning: perturbed_version(spec, tiny_checkpoint, seed=2) for tuning, spec in specs.items()},
        "groups": {
            tuning: draw_groups(spec, tiny_checkpoint, drawn_by[tuning], fragment_size=1)
            for tuning, spec in specs.items()
        },
        "num_pairs": NUM_PAIRS,
    }


@pytest.fixture(scope="module")
def ranks(request: pytest.FixtureRequest, task: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Ranks:
    selected = {**task, "cases": selected_cases(request)}
    return run_rank_processes("tests.engine.trainer.uneven_worker", selected, tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def one_rank(request: pytest.FixtureRequest, task: dict[str, Any], process_group: None) -> Expected:
    """By configuration and tuning: a rank after the same steps by itself, its statistics and its last step's."""
    found: Expected = {}
    for config, tuning, _ in selected_cases(request):
        trainer = trainer_rank(spec_of(task["specs"][tuning], config), task["path"])
        trainer.load_version(task["versions"][tuning])
        stats, metrics = [], {}
        for step in range(NUM_STEPS):
            groups = task["groups"][tuning]
            stats.append(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=step == 0))
            metrics = trainer.commit()
        found[config, tuning] = trainer, merge_stats(stats), metrics
    return found


@EACH_CASE
def test_the_weights_after_two_steps_are_those_of_one_rank(
    ranks: Ranks, one_rank: Expected, task: dict[str, Any], case: Case
) -> None:
    config, tuning, _ = case
    trainer, _, metrics = one_rank[config, tuning]
    expected, before = trainer.version(1).tensors, task["versions"][tuning].tensors
    versions = [rank[case]["version"] for rank in ranks]
    assert versions[0].sha256 == versions[1].sha256
    found = versions[0].tensors
    joined = [torch.cat([tensors[name].flatten() for name in expected]) for tensors in (found, expected, before)]
    assert relative_distance(joined[0], joined[1]) < 1e-5
    assert relative_distance(joined[2], joined[1]) > 1e-3, "the steps changed the weights by much more than that"
    assert ranks[0][case]["grad_norm"] == pytest.approx(metrics["grad_norm"], rel=1e-4)


@EACH_CASE
def test_statistics_count_every_pair_once_whichever_rank_trained_it(
    ranks: Ranks, one_rank: Expected, case: Case
) -> None:
    config, tuning, number = case
    _, expected, _ = one_rank[config, tuning]
    stats = [rank[case]["stats"] for rank in ranks]
    assert [each.num_pairs for each in stats] == [NUM_STEPS * 3 * number, NUM_STEPS * 3 * (6 - number)]
    merged = merge_stats(stats)
    assert merged.num_pairs == NUM_STEPS * NUM_PAIRS
    assert merged.sums == pytest.approx(expected.sums, rel=1e-4, abs=1e-4)
    assert merged.maxima == pytest.approx(expected.maxima, rel=1e-3)


def test_a_rank_is_given_no_more_than_its_share(task: dict[str, Any]) -> None:
    """One denoising step of three: of each trajectory 2 of 4 latents and 1 of 3 means, in both sizes of parts."""
    groups, spec = task["groups"][Tuning.LORA], task["specs"][Tuning.LORA]
    (group,) = share_of(groups, spec, (MicroBatchKey(0, 0),))
    assert isinstance(group, GroupBatch)
    for member in range(3):
        own = [part for part in group.trajectories if part.members == (member,)]
        assert sorted(step for part in own for step in part.states) == [0, 1]
        assert [step for part in own for step in part.means] == [0]


def test_a_micro_batch_without_its_part_is_refused(task: dict[str, Any], process_group: None) -> None:
    spec = task["specs"][Tuning.LORA]
    trainer = trainer_rank(spec, task["path"])
    share = share_of(task["groups"][Tuning.LORA], spec, MICRO_BATCHES[:1])
    with pytest.raises(ValueError, match="latents 2 of members"):
        trainer.accumulate(share, [MicroBatchKey(0, 1)], num_pairs_total=NUM_PAIRS, fresh=False)


def test_single_micro_batches_of_a_group_are_counted_over_calls(task: dict[str, Any], process_group: None) -> None:
    trainer = trainer_rank(task["specs"][Tuning.LORA], task["path"])
    groups = task["groups"][Tuning.LORA]
    trainer.accumulate(groups, MICRO_BATCHES[:2], num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.accumulate(groups, MICRO_BATCHES[2:5], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match=r"once, got again: .*group=0, index=1"):
        trainer.accumulate(groups, MICRO_BATCHES[1:2], num_pairs_total=NUM_PAIRS, fresh=False)
    with pytest.raises(MinibatchError, match="18 pairs must be complete at its optimizer step, got 15"):
        trainer.commit()
    with pytest.raises(MinibatchError, match="must have an advantage for each of its 3 trajectories, got 4"):
        wrong = [replace(group, advantages=(0.0,) * 4) for group in groups]
        trainer.accumulate(wrong, MICRO_BATCHES[5:], num_pairs_total=NUM_PAIRS, fresh=False)
