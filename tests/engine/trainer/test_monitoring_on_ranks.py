"""In ZeRO 3 ranks gather every layer together, so forward passes that only monitor must be the same on all of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.rank_processes import run_rank_processes
from worker.contracts.replay_bounds import ReplayGateSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.types import PublishedShard

# Each of two groups has 9 micro-batches of one pair: 5 for the first rank, 4 and one of padding for the other.
NUM_PAIRS = 18
SECTIONS = {"batch": {"group_size": 3, "micro_batch_size": 1}, "pipeline": {"tsp": True, "max_staleness": 1}}


@pytest.mark.slow
def test_ranks_monitor_together_in_zero_3_and_the_gradient_is_the_same_as_without(
    make_spec: Callable[..., RunSpec], tiny_checkpoint: str, behaviour: PublishedShard, tmp_path: Path
) -> None:
    spec = make_spec(**SECTIONS)
    task = {
        "spec": spec,
        "path": tiny_checkpoint,
        "version": perturbed_version(spec, tiny_checkpoint, seed=2),
        "behaviour": behaviour,
        "groups": draw_groups(spec, tiny_checkpoint, behaviour),
        "num_pairs": NUM_PAIRS,
    }
    ranks = run_rank_processes("tests.engine.trainer.monitoring_worker", task, tmp_path)
    for rank in ranks:
        assert torch.equal(rank[True]["gradient"], rank[False]["gradient"])
        assert rank[True]["weights"] == rank[False]["weights"] == ranks[0][True]["weights"]
        # Of ten micro-batches of each rank, padding included, one is monitored.
        assert rank[True]["stats"].sums["kl_pairs"] == 1
        assert "kl_pairs" not in rank[False]["stats"].sums
    bounds = ReplayGateSpec().bounds("fp32")
    check_replay_gate(merge_stats(rank[True]["stats"] for rank in ranks), bounds)
