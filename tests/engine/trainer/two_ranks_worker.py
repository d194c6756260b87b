"""One of the ranks of `test_two_ranks`: takes the steps of its task in each case, and tells what it saw."""

from pathlib import Path
from typing import Any

from tests.engine.rank_processes import run_worker
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.state_bytes import state_bytes
from tests.engine.trainer.test_lending import lend
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch


def one_step(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> tuple[list[int], dict[str, float]]:
    """Groups one at a time, then the step; (pairs of this rank per group, metrics)."""
    seen = [trainer.accumulate([group], num_pairs_total=num_pairs, fresh=False).num_pairs for group in groups]
    return seen, trainer.commit()


Case = tuple[int, bool]
"""ZeRO stage, and whether time-step parallelism is on."""
CASES: tuple[Case, ...] = ((0, True), (1, True), (2, True), (2, False), (3, True), (3, False))


ZERO_3 = {
    "config": "zero3",
    "offload_idle_states": True,
    # Or every weight of so small a model would stay gathered.
    "overrides": ["zero_optimization.stage3_param_persistence_threshold=0"],
}


def run_case(task: dict[str, Any], case: Case, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    stage, tsp = case
    given: RunSpec = task["spec"]
    sections = {
        "deepspeed": DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"zero_stage": stage}),
        "pipeline": given.pipeline.model_copy(update={"tsp": tsp, "tag": TrainerAssist.GREEDY}),
    }
    spec = given.model_copy(update=sections)
    groups, num_pairs = task["groups"], task["num_pairs"]

    def trainer_at_start() -> TrainerRank:
        made = TrainerRank(spec, task["path"], rank, world_size)
        made.load_version(task["adapter"])
        return made

    trainer = trainer_at_start()
    recorder = GradientRecorder(trainer)
    pairs_seen, metrics = one_step(trainer, groups, num_pairs)
    uri = f"file://{folder}/stage-{stage}-{tsp}"
    num_bytes = trainer.save_checkpoint(uri, {"stage": stage})
    result: dict[str, Any] = {"gradient": recorder.last, "pairs_seen": pairs_seen, "num_bytes": num_bytes, **metrics}
    trainer.accumulate(groups[:1], num_pairs_total=num_pairs, fresh=False)
    result["state"] = state_bytes(trainer)
    made = lend(trainer, task["adapter"])
    assert made.trajectories is not None
    result["lent"] = made.trajectories.next_latents
    trainer.abort()
    one_step(trainer, groups, num_pairs)
    result["after_abort"] = trainer.version(2).sha256
    resumed = trainer_at_start()
    result["client_state"] = resumed.load_checkpoint(uri)
    one_step(resumed, groups, num_pairs)
    result["after_resume"] = resumed.version(2).sha256
    return result


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(task, case, rank, world_size, folder) for case in CASES}


if __name__ == "__main__":
    run_worker(run)
