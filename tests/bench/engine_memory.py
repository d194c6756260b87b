"""What each trainer rank holds in each ZeRO stage, measured storage by storage: `make bench-engine` starts it.

    python -m tests.bench.engine_memory RANK WORLD_SIZE PORT CHECKPOINT SIZE      (one process for each rank)

Memory is measured where most is held at once: after an optimizer step, so that the moments exist, and with gradients of
the next mini-batch open. The first rank prints one JSON line: for each stage bytes of weights, optimizer and gradients,
the memory planner's numbers, and on an accelerator the peak of an optimizer step, activations included; and seconds of
joining the group, of an optimizer step's parts and of publishing this rank's shards.

There are two ranks; on accelerators one per device, so only one where there is a single device.
"""

import gc
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.engine_cases import Case, large_case, large_size_name, size_named
from tests.bench.engine_loops import Rollouts
from tests.bench.engine_pairs import Work, in_turns, on_cpu
from tests.bench.lane_costs import free_port
from tests.bench.rank_devices import rank_environment
from tests.engine.rank_share import accumulate_share
from tests.engine.trainer.state_bytes import state_bytes
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.models.registry import load_model
from worker.engine.sync.packing import pack
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group
from worker.engine.types import GroupBatch
from worker.scheduling.planning.trainer_state import trainer_state

ROOT = Path(__file__).parents[2]
STAGES = (0, 1, 2, 3)
MAX_RANKS = 2
PARTS = ("weights", "optimizer", "gradients")


def measure_ranks(checkpoint: str, *, size: str | None = None) -> list[dict[str, Any]]:
    """A row for each stage, of the first rank; all ranks hold equal shares. `size` is one of `engine_cases.SIZES`."""
    num_ranks = MAX_RANKS if on_cpu() else min(MAX_RANKS, get_accelerator().device_count())
    port = str(free_port())
    command = [sys.executable, "-m", "tests.bench.engine_memory"]
    with ExitStack() as stack:
        logs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(num_ranks)]
        ranks = [
            subprocess.Popen(
                [*command, str(rank), str(num_ranks), port, checkpoint, size or large_size_name()],
                cwd=ROOT,
                env=rank_environment(rank),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            for rank, log in enumerate(logs)
        ]
        printed = [rank.communicate()[0] for rank in ranks]
        codes = [rank.returncode for rank in ranks]
        if any(codes):
            raise RuntimeError(f"the ranks ended with {codes}:\n" + "\n".join(map(_last_of, logs)))
    rows: list[dict[str, Any]] = json.loads(printed[0].splitlines()[-1])
    return rows


def _last_of(log: IO[str]) -> str:
    """What a rank wrote last, and no more of it: libraries warn at length."""
    log.seek(0)
    return log.read()[-4000:]


def main(rank: int, world_size: int, port: int, checkpoint: str, size: str) -> None:
    torch.set_num_threads(1)
    # DeepSpeed collects garbage at every start in ZeRO 3, which need not look at the modules just imported.
    gc.freeze()
    began = time.perf_counter()
    init_process_group(rank, world_size, "127.0.0.1", port)
    group_seconds = time.perf_counter() - began
    case = large_case(size_named(size))
    groups = Rollouts(case, checkpoint).groups()
    frozen_bytes = _frozen_bytes(case, checkpoint)
    rows = []
    for stage in STAGES:
        spec = case.spec.model_copy(update={"deepspeed": DeepSpeedSpec.model_validate({"config": f"zero{stage}"})})
        gc.collect()
        trainer = TrainerRank(spec, checkpoint, rank, world_size)
        num_trained = sum(tensor.numel() for tensor in trainer.version(0).tensors.values())
        planned = trainer_state(
            zero_stage=stage, frozen_bytes=frozen_bytes, num_trained=num_trained, num_ranks=world_size
        )
        row = {"stage": stage, "num_ranks": world_size, "planned": {part: getattr(planned, part) for part in PARTS}}
        row |= {"group_seconds": group_seconds}
        num_pairs = case.spec.algebra.num_pairs_per_optimizer_step
        rows.append(row | _memory(trainer, groups, num_pairs) | _seconds(trainer, groups, num_pairs))
        del trainer
    print(json.dumps(rows))
    destroy_process_group()


def _memory(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> dict[str, int | None]:
    """Bytes held with gradients of a second mini-batch open, and `peak`, the most during the first one."""
    get_accelerator().reset_peak_memory_stats()
    accumulate_share(trainer, groups, num_pairs_total=num_pairs, fresh=False)
    trainer.commit()
    peak = None if on_cpu() else get_accelerator().max_memory_allocated()
    accumulate_share(trainer, groups[:1], num_pairs_total=num_pairs, fresh=False)
    return state_bytes(trainer) | {"peak": peak}


def _seconds(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> dict[str, float]:
    """Seconds of this rank in an optimizer step that is not its first, and in publishing afterwards."""
    trainer.abort()
    works: dict[str, Work] = {
        "accumulate": lambda: accumulate_share(trainer, groups, num_pairs_total=num_pairs, fresh=False),
        "commit": trainer.commit,
        "publish": lambda: [pack(copies, 1) for copies in trainer.snapshot().values()],
    }
    return {f"{name}_seconds": in_turns(1, work, warm_up=0)[0].wall[0] for name, work in works.items()}


def _frozen_bytes(case: Case, checkpoint: str) -> int:
    base = load_model(case.spec.base_model, checkpoint, device="cpu").transformer
    return sum(parameter.numel() * parameter.element_size() for parameter in base.parameters())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
