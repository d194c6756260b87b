"""A rank process of `test_proximal_on_ranks`: trains a stale batch and returns what it knows of the proximal policy."""

from pathlib import Path
from typing import Any

from tests.engine.rank_processes import run_worker
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank

STAGES = (0, 2, 3)
"""The ZeRO stages that are tried."""


def trained(task: dict[str, Any], stage: int, rank: int, world_size: int) -> dict[str, Any]:
    given: RunSpec = task["spec"]
    spec = given.model_copy(update={"deepspeed": DeepSpeedSpec.model_validate({"config": f"zero{stage}"})})
    trainer = TrainerRank(spec, task["path"], rank, world_size)
    trainer.load_version(task["current"])
    algebra, groups, num_own = spec.algebra, task["groups"], []
    size = algebra.num_groups_per_minibatch
    for epoch in range(algebra.num_epochs):
        for minibatch in range(algebra.num_minibatches):
            own = groups[minibatch * size : (minibatch + 1) * size]
            # Bundled in another way, pairs go to another rank in the second epoch.
            for bundle in [own[:1], own[1:]] if epoch == 0 else [own]:
                stats = trainer.accumulate(
                    bundle,
                    num_pairs_total=algebra.num_pairs_per_optimizer_step,
                    fresh=epoch == minibatch == 0,
                    staleness=1,
                    behaviour=task["behaviour"],
                )
                num_own.append(stats.num_pairs)
            trainer.commit()
    return {
        "log_ratios": trainer._proximal._log_ratios.cpu(),
        "weights": trainer.version(2).sha256,
        "num_own": num_own,
    }


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[int, dict[str, Any]]:
    return {stage: trained(task, stage, rank, world_size) for stage in STAGES}


if __name__ == "__main__":
    run_worker(run)
