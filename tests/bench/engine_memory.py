"""What each of two trainer ranks holds in each ZeRO stage, measured storage by storage: `make bench-engine` starts it.

    python -m tests.bench.engine_memory RANK WORLD_SIZE PORT CHECKPOINT      (one process for each rank)

Measured where most is held at once: an optimizer step has been taken, so the moments are there, and the gradients of
the next mini-batch are open. Prints one JSON line: bytes of weights, optimizer and gradients by stage, and beside them
what the memory planner says.
"""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from tests.bench.engine_cases import CPU_SIZE, large_case
from tests.bench.engine_loops import Rollouts
from tests.bench.lane_costs import free_port
from tests.engine.trainer.state_seen import state_bytes
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.models.registry import load_model
from worker.engine.trainer.engine import TrainerEngine
from worker.engine.trainer.process_group import destroy_process_group, init_process_group
from worker.pipeline.trainer_state import trainer_state

ROOT = Path(__file__).parents[2]
STAGES = (0, 1, 2, 3)
NUM_RANKS = 2
PARTS = ("weights", "optimizer", "gradients")


def measured(checkpoint: str) -> list[dict[str, Any]]:
    """A row for each stage, of the first rank; ranks hold equal parts."""
    port = str(free_port())
    command = [sys.executable, "-m", "tests.bench.engine_memory"]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(NUM_RANKS), port, checkpoint],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank in range(NUM_RANKS)
    ]
    printed = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise RuntimeError(f"a rank ended with {[rank.returncode for rank in ranks]}: run one by hand to see why")
    rows: list[dict[str, Any]] = json.loads(printed[0].splitlines()[-1])
    return rows


def main(rank: int, world_size: int, port: int, checkpoint: str) -> None:
    torch.set_num_threads(1)
    # DeepSpeed collects garbage at every start in ZeRO 3, and the modules just imported are none.
    gc.freeze()
    init_process_group(rank, world_size, "127.0.0.1", port)
    case = large_case(CPU_SIZE)
    groups = Rollouts(case, checkpoint).groups()
    base = load_model(case.spec.base_model, checkpoint).transformer
    frozen_bytes = sum(parameter.numel() * parameter.element_size() for parameter in base.parameters())
    num_pairs = case.spec.algebra.num_pairs_per_optimizer_step
    rows = []
    for stage in STAGES:
        spec = case.spec.model_copy(update={"deepspeed": DeepSpeedSpec.model_validate({"zero_stage": stage})})
        trainer = TrainerEngine(spec, checkpoint, rank, world_size)
        num_trained = sum(tensor.numel() for tensor in trainer.version(0).tensors.values())
        trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=False)
        trainer.commit()
        trainer.accumulate(groups[:1], num_pairs_total=num_pairs, fresh=False)
        planned = trainer_state(
            zero_stage=stage, frozen_bytes=frozen_bytes, num_trained=num_trained, num_ranks=world_size
        )
        held = state_bytes(trainer)
        rows.append({"stage": stage, **held, "planned": {part: getattr(planned, part) for part in PARTS}})
        del trainer
        gc.collect()
    print(json.dumps(rows))
    destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
