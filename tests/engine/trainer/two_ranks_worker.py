"""A rank process of `test_two_ranks`: takes the steps of its task in each case and returns what it observed."""

from pathlib import Path
from typing import Any

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.stacked import next_latents_of
from tests.engine.trainer.gradient_recorder import GradientRecorder
from tests.engine.trainer.lent_generation import lend
from tests.engine.trainer.state_bytes import state_bytes
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.state_offload import StateOffloader
from worker.engine.types import GroupBatch


def one_step(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> tuple[list[int], dict[str, float]]:
    """Accumulate the groups one at a time and take the step; returns (this rank's pairs of each group, metrics)."""
    num_own = [accumulate_share(trainer, [group], num_pairs_total=num_pairs, fresh=False).num_pairs for group in groups]
    return num_own, trainer.commit()


Case = tuple[int, bool]
"""(ZeRO stage, whether time-step parallelism is on)."""
CASES: tuple[Case, ...] = ((0, True), (1, True), (2, True), (2, False), (3, True), (3, False))


ZERO_3 = {
    "config": "zero3",
    "offload_idle_states": True,
    # By default ZeRO 3 would keep every weight of so small a model gathered.
    "overrides": ["zero_optimization.stage3_param_persistence_threshold=0"],
}


def offloaded_bytes(trainer: TrainerRank, *, with_base: bool) -> int:
    """What the rank moves to host memory when it is lent; moved back before this returns."""
    offloader = StateOffloader(trainer._deepspeed_engine, trainer._policy.module)
    offloader.offload(with_base=with_base)
    return offloader.reload().num_bytes


def run_case(task: dict[str, Any], case: Case, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    stage, tsp = case
    given: RunSpec = task["spec"]
    sections = {
        "deepspeed": DeepSpeedSpec.model_validate(ZERO_3 if stage == 3 else {"config": f"zero{stage}"}),
        "pipeline": given.pipeline.model_copy(update={"tsp": tsp, "tag": TrainerAssist.GREEDY}),
    }
    spec = given.model_copy(update=sections)
    groups, num_pairs = task["groups"], task["num_pairs"]

    def new_trainer() -> TrainerRank:
        made = trainer_rank(spec, task["path"], rank, world_size)
        made.load_version(task["version"])
        return made

    trainer = new_trainer()
    recorder = GradientRecorder(trainer)
    num_own_pairs, metrics = one_step(trainer, groups, num_pairs)
    uri = f"file://{folder}/stage-{stage}-{tsp}"
    num_bytes = trainer.save_checkpoint(uri, {"stage": stage})
    result: dict[str, Any] = {"gradient": recorder.last, "num_own_pairs": num_own_pairs, "num_bytes": num_bytes}
    result |= metrics
    accumulate_share(trainer, groups[:1], num_pairs_total=num_pairs, fresh=False)
    result["state"] = state_bytes(trainer)
    result["offloaded"] = offloaded_bytes(trainer, with_base=stage == 3)
    generated = lend(trainer, task["version"])
    assert generated.trajectories is not None
    result["lent"] = next_latents_of(generated.trajectories)
    trainer.abort()
    one_step(trainer, groups, num_pairs)
    result["after_abort"] = trainer.version(2).sha256
    resumed = new_trainer()
    result["client_state"] = resumed.load_checkpoint(uri).client_state
    one_step(resumed, groups, num_pairs)
    result["after_resume"] = resumed.version(2).sha256
    return result


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(task, case, rank, world_size, folder) for case in task["cases"]}
