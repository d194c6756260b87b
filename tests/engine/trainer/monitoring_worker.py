"""One of the ranks of `test_watching_ranks`: goes through a batch's first mini-batch with and without looking."""

from pathlib import Path
from typing import Any

from tests.engine.rank_processes import run_worker
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.two_ranks_worker import ZERO_3
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.trainer.rank import TrainerRank


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[bool, dict[str, Any]]:
    """What came of it with and without, by whether the data counts as fresh."""
    spec = task["spec"].model_copy(update={"deepspeed": DeepSpeedSpec.model_validate(ZERO_3)})
    seen = {}
    for fresh in (True, False):
        trainer = TrainerRank(spec, task["path"], rank, world_size)
        trainer.load_version(task["adapter"])
        recorder = GradientRecorder(trainer)
        how = {"num_pairs_total": task["num_pairs"], "fresh": fresh, "staleness": 1, "behaviour": task["behaviour"]}
        stats = [trainer.accumulate([group], **how) for group in task["groups"]]
        trainer.commit()
        seen[fresh] = {"stats": merge_stats(stats), "gradient": recorder.last, "weights": trainer.version(1).sha256}
    return seen


if __name__ == "__main__":
    run_worker(run)
