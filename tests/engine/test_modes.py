"""Modes change speed alone: no pipeline switch and no order of arrival changes the trained weights."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.virtual_clock_run import TRAINER, VirtualClockRun
from tests.slow_params import slow_but
from worker.contracts.run_spec import RunSpec

PROMPTS = ("a red square", "a blue circle", "a green circle", "a red circle")
SpecMaker = Callable[..., RunSpec]

MODES: dict[str, dict[str, Any]] = {
    "colocated": {"placement": "colocated"},
    "disaggregated": {"gap": False, "tsp": False},
    "gap": {"gap": True, "tsp": False},
    "gap and tsp": {"gap": True},
    "greedy lending": {"tag": "greedy"},
    "lending by search": {"tag": "search"},
    "lending without gap": {"tag": "greedy", "gap": False},
}


@pytest.fixture(scope="module")
def simulate(make_spec: SpecMaker, tiny_checkpoint: str, process_group: None) -> Callable[..., VirtualClockRun]:
    def run(seed: int, num_rollout: int = 2, *, num_batches: int = 3, **pipeline: Any) -> VirtualClockRun:
        spec = make_spec(
            prompts={"inline": PROMPTS},
            batch={"num_prompts_per_batch": 4, "fragment_size": 2, "num_minibatches": 2, "num_epochs_per_batch": 2},
            lanes={"num_rollout": num_rollout},
            pipeline={"deterministic": True} | pipeline,
            num_batches=num_batches,
        )
        simulated_run = VirtualClockRun(spec, tiny_checkpoint, seed=seed, num_rollout=num_rollout)
        simulated_run.run()
        return simulated_run

    return run


@pytest.fixture(scope="module")
def fresh_versions(simulate: Callable[..., VirtualClockRun]) -> list[str]:
    """The checksums of the versions of two batches without any switch, whose samples arrive in yet another order."""
    return simulate(3, num_batches=2, gap=False, tsp=False).versions


@pytest.fixture(scope="module")
def stale_versions(simulate: Callable[..., VirtualClockRun]) -> list[str]:
    """The checksums of the versions of three batches at staleness 1."""
    return simulate(3, max_staleness=1).versions


@pytest.mark.parametrize("mode", slow_but(["colocated", "gap and tsp", "greedy lending"], MODES))
def test_every_mode_trains_bitwise_the_same_weights(
    simulate: Callable[..., VirtualClockRun], fresh_versions: list[str], mode: str
) -> None:
    assert len(set(fresh_versions)) == 3
    for seed, num_rollout in ((1, 2), (2, 1)):
        simulated_run = simulate(seed, num_rollout, num_batches=2, **MODES[mode])
        assert simulated_run.versions == fresh_versions
        assert set(simulated_run.staleness.values()) == {0}
        assert len(simulated_run.generated_by) == 2 * 8
        if mode == "greedy lending":
            assert TRAINER in simulated_run.generated_by.values()
        if mode == "colocated":
            assert set(simulated_run.generated_by.values()) == {TRAINER}


@pytest.mark.parametrize(
    "pipeline",
    slow_but([{"tag": "greedy"}], [{}, {"tag": "greedy"}, {"gap": False, "tsp": False}]),
    ids=["gap", "tag", "plain"],
)
def test_at_staleness_one_too_every_order_trains_the_same_weights(
    simulate: Callable[..., VirtualClockRun], stale_versions: list[str], pipeline: dict[str, Any]
) -> None:
    for seed in (1, 2):
        simulated_run = simulate(seed, max_staleness=1, **pipeline)
        assert simulated_run.staleness == {0: 0, 1: 1, 2: 1}
        assert simulated_run.versions == stale_versions


@pytest.mark.parametrize("change", [{"stale_clip": "behaviour"}, {"importance_cap": 1.0}], ids=str)
def test_what_stale_pairs_are_clipped_around_changes_stale_batches_alone(
    simulate: Callable[..., VirtualClockRun], stale_versions: list[str], change: dict[str, Any]
) -> None:
    simulated_run = simulate(1, max_staleness=1, **change)
    assert simulated_run.versions[:2] == stale_versions[:2], "the first batch is fresh"
    assert simulated_run.versions[2] != stale_versions[2]
