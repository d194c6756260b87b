"""A rank process of `test_uneven_ranks`: takes two steps in each case, the ranks one after the other."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.transport.packed_trajectories import PackedTrajectories, cut
from worker.engine.transport.parts import cut_members
from worker.engine.types import GroupBatch
from worker.scheduling.core.messages import MicroBatchKey

Case = tuple[str, Tuning, int]
"""(DeepSpeed configuration, tuning, number of micro-batches of rank 0; rank 1 takes the others)."""
CASES: tuple[Case, ...] = (
    ("zero0", Tuning.LORA, 1),
    ("zero1", Tuning.LORA, 1),
    ("zero1", Tuning.LORA, 6),
    ("zero0", Tuning.LORA, 0),
    ("zero1_cpuoffload", Tuning.LORA, 0),
    ("zero0", Tuning.FULL, 1),
    ("zero1", Tuning.FULL, 1),
    ("zero1", Tuning.FULL, 0),
)
MICRO_BATCHES = tuple(MicroBatchKey(group, index) for group in (0, 1) for index in range(3))
NUM_STEPS = 2


def spec_of(given: RunSpec, config: str) -> RunSpec:
    return given.model_copy(update={"deepspeed": DeepSpeedSpec.model_validate({"config": config})})


def share_of(groups: list[GroupBatch], spec: RunSpec, micro_batches: tuple[MicroBatchKey, ...]) -> list[GroupBatch]:
    """The groups of `micro_batches`, with no other parts of trajectories than these need, packed and unpacked."""
    share = []
    for group in groups:
        own = {key.index for key in micro_batches if key.group == group.group}
        parts = []
        for fragment in group.trajectories:
            planned = cut_members(spec.algebra, fragment.members, by_step=True)
            made = cut(fragment, planned, spec.algebra)
            kept = [each for part, each in zip(planned, made, strict=True) if not own.isdisjoint(part.micro_batches)]
            parts += [PackedTrajectories.of(each).unpacked() for each in kept]
        if parts:
            share.append(replace(group, trajectories=tuple(parts)))
    return share


def run_case(task: dict[str, Any], case: Case, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    config, tuning, number = case
    spec = spec_of(task["specs"][tuning], config)
    trainer = trainer_rank(spec, task["path"], rank, world_size)
    trainer.load_version(task["versions"][tuning])
    own = MICRO_BATCHES[:number] if rank == 0 else MICRO_BATCHES[number:]
    share = share_of(task["groups"][tuning], spec, own)
    stats, metrics = [], {}
    for step in range(NUM_STEPS):
        turn = f"{config}-{tuning}-{number}-{step}"
        # A collective outside `commit` would wait for ever: the other rank begins only when this one is done.
        if rank == 1:
            wait_for(folder / f"{turn}-0")
        for key in own:
            groups = [group for group in share if group.group == key.group]
            stats.append(trainer.accumulate(groups, [key], num_pairs_total=task["num_pairs"], fresh=step == 0))
        (folder / f"{turn}-{rank}").touch()
        wait_for(folder / f"{turn}-{1 - rank}")
        metrics = trainer.commit()
    return {"version": trainer.version(1), "stats": merge_stats(stats), **metrics}


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[Case, dict[str, Any]]:
    return {case: run_case(task, case, rank, world_size, folder) for case in task["cases"]}
