"""Ranks whose shares differ from epoch to epoch train stale pairs as one rank does that takes all of them."""

from typing import Any

import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.algorithms.proximal_worker import ALL_THEN_NONE, CASES, Case, trained
from tests.engine.algorithms.stale_batch import ALGORITHMS, SECTIONS, STALE, current_version
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.gradient_recorder import relative_distance

BATCH = SECTIONS["batch"] | {"group_size": 3, "micro_batch_size": 4}
"""A group has 9 pairs in 3 micro-batches."""
pytestmark = pytest.mark.slow
NAMES = sorted({name for name, *_ in CASES})
Ranks = list[dict[Any, Any]]
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-zero{case[1]}")


@pytest.fixture(scope="module")
def task(make_setup: SetupMaker) -> dict[str, Any]:
    sections = SECTIONS | {"batch": BATCH, "pipeline": STALE}
    setups = {name: make_setup(algorithm=ALGORITHMS[name], **sections) for name in NAMES}
    setup = setups["flow_grpo"]
    return {
        "specs": {name: each.spec for name, each in setups.items()},
        "path": setup.path,
        "groups": {name: each.groups for name, each in setups.items()},
        "behaviour": setup.version,
        "current": current_version(setup),
    }


@pytest.fixture(scope="module")
def ranks(task: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Ranks:
    return run_rank_processes("tests.engine.algorithms.proximal_worker", task, tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def one_rank(task: dict[str, Any], process_group: None) -> dict[str, dict[str, Any]]:
    """By algorithm: what one rank knows and has learnt after the batch, in ZeRO 0, whatever the shares."""
    return {name: trained(task, (name, 0, ALL_THEN_NONE), 0, 1) for name in NAMES}


@EACH_CASE
def test_ranks_learn_what_one_rank_learns(
    ranks: Ranks, one_rank: dict[str, dict[str, Any]], task: dict[str, Any], case: Case
) -> None:
    first, second = (rank[case] for rank in ranks)
    assert [sum(pairs) for pairs in zip(first["num_own"], second["num_own"], strict=True)] == [18] * 4
    assert first["num_own"][:2] != first["num_own"][2:], "shares differ between epochs"
    assert first["version"].sha256 == second["version"].sha256
    before, expected = task["current"].tensors, one_rank[case[0]]["version"].tensors
    found = first["version"].tensors
    joined = [torch.cat([tensors[name].flatten() for name in expected]) for tensors in (found, expected, before)]
    assert relative_distance(joined[0], joined[1]) < 1e-3 * relative_distance(joined[2], joined[1])


@pytest.mark.parametrize("name", ["flow_grpo", "grpo_guard"])
def test_all_ranks_know_all_pairs_as_one_rank_does(
    ranks: Ranks, one_rank: dict[str, dict[str, Any]], name: str
) -> None:
    expected = one_rank[name]["log_ratios"]
    assert torch.isfinite(expected).all() and expected.abs().max() > 1e-3
    for case in CASES:
        if case[0] == name:
            first, second = (rank[case]["log_ratios"] for rank in ranks)
            assert torch.equal(first, second)
            torch.testing.assert_close(first, expected, rtol=1e-4, atol=1e-6)


def test_a_rank_that_was_loaded_while_others_trained_is_refused_on_every_rank(ranks: Ranks) -> None:
    for rank in ranks:
        assert "after the same steps" in rank["error"]
