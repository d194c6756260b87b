"""A rank process of `test_monitoring_on_ranks`: trains a stale mini-batch with and without monitoring."""

from pathlib import Path
from typing import Any

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.two_ranks_worker import ZERO_3
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.metrics.update_metrics import merge_stats


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[bool, dict[str, Any]]:
    """The rank's observations by whether the data counts as fresh, which is when it is monitored."""
    spec = task["spec"].model_copy(update={"deepspeed": DeepSpeedSpec.model_validate(ZERO_3)})
    observed = {}
    for fresh in (True, False):
        trainer = trainer_rank(spec, task["path"], rank, world_size)
        trainer.load_version(task["version"])
        recorder = GradientRecorder(trainer)
        stale = {"num_pairs_total": task["num_pairs"], "fresh": fresh, "staleness": 1, "behaviour": task["behaviour"]}
        stats = [accumulate_share(trainer, [group], **stale) for group in task["groups"]]
        trainer.commit()
        observed[fresh] = {"stats": merge_stats(stats), "gradient": recorder.last, "weights": trainer.version(1).sha256}
    return observed
