"""A trainer rank of a gang: `python -m tests.bench.gpu.trainer_ranks RANK SIZE PORT CASE…`, from the stage `ranks`.

Every rank makes the same weights on its device and draws the same groups, then takes part in one case after the other:
memory is measured where most is held at once, after an optimizer step and with gradients of the next mini-batch open.
Rank 0 reports a row for each case as it ends.
"""

import gc
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.engine_memory import PARTS
from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_models import LoadedModel, draw, made_model, new_version
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import PROMPTS, shapes_for
from tests.bench.gpu.rank_reports import reporter
from tests.bench.gpu.rates import reserve_bytes
from tests.bench.gpu.resident_models import resident
from tests.engine.rank_share import accumulate_share
from tests.engine.trainer.state_bytes import state_bytes
from worker.contracts.run_spec import RunSpec
from worker.engine.devices.selection import resolve_device
from worker.engine.models.sharded_parameters import full_numel
from worker.engine.sync.packing import pack
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.planning.memory import MAX_BUCKET_NUMEL
from worker.scheduling.planning.trainer_state import FP32_BYTES, trainer_state

MEMBERS, NUM_STEPS = 2, 3
"""Of each group, and of its denoising steps, of which all but the last are trained: three groups of two micro-batches
each, of which two ranks take four and two where they keep a trajectory's steps together, and three each with TSP."""


@dataclass(frozen=True, slots=True)
class RankCase:
    """One way to train the same groups."""

    name: str
    zero_stage: int
    tuning: str = "lora"
    tsp: bool = True


WITH_TSP, WITHOUT_TSP = "LoRA, ZeRO 0", "LoRA, ZeRO 0, without TSP"
CASES = (
    RankCase(WITH_TSP, 0),
    RankCase(WITHOUT_TSP, 0, tsp=False),
    *(RankCase(f"LoRA, ZeRO {stage}", stage) for stage in (1, 2, 3)),
    # All weights of a bf16 base are trained from ZeRO 1 on.
    *(RankCase(f"all weights, ZeRO {stage}", stage, tuning="full") for stage in (1, 2, 3)),
)


def main(rank: int, size: int, port: int, names: list[str]) -> None:
    report = reporter()
    torch.set_num_threads(1)
    # DeepSpeed collects garbage at every start in ZeRO 3, which need not look at the modules just imported.
    gc.freeze()
    device = resolve_device(None)
    shapes = shapes_for(device)
    with tempfile.TemporaryDirectory() as folder:
        loaded = made_model(shapes.gang, Path(folder), device=device, lora_rank=shapes.lora_rank)
        drawing = rank_spec(loaded, CASES[0])
        groups = draw(loaded, drawing, new_version(loaded, drawing))
        # Not before: in a group only rank 0 writes what `made_model` saves.
        init_process_group(rank, size, "127.0.0.1", port)
        for case in CASES:
            if case.name in names:
                row = _row(loaded, case, groups, rank=rank, size=size, repeats=shapes.repeats)
                if rank == 0:
                    report(row)
    destroy_process_group()


def rank_spec(loaded: LoadedModel, case: RankCase) -> RunSpec:
    """The run of a case. All blocks are recomputed, so that ZeRO 3 releases what it has gathered."""
    size = loaded.model.sizes[0]
    steps = {"num_denoising_steps": NUM_STEPS, "num_eval_denoising_steps": NUM_STEPS}
    batch = {"num_prompts_per_batch": len(PROMPTS), "group_size": MEMBERS, "micro_batch_size": MEMBERS}
    return loaded.spec(
        size,
        members=MEMBERS,
        prompts={"inline": PROMPTS},
        sampling={**steps, **size.as_arguments},
        batch=batch,
        tuning=case.tuning,
        deepspeed={"config": f"zero{case.zero_stage}", "gradient_checkpointing": 1},
        pipeline={"tsp": case.tsp},
    )


def _row(loaded: LoadedModel, case: RankCase, groups: list[GroupBatch], *, rank: int, size: int, repeats: int) -> Row:
    spec = rank_spec(loaded, case)
    gc.collect()
    get_accelerator().empty_cache()
    # Training all weights changes them, and leaves DeepSpeed's hooks on them.
    model = loaded.resident.with_own_transformer() if case.tuning == "full" else loaded.resident
    with resident(model):
        trainer = TrainerRank(spec, model.path, rank, size)
    del model
    row = _memory(trainer, groups)
    steps = [_seconds(trainer, groups) for _ in range(repeats)]
    row |= {name: statistics.median(step[name] for step in steps) for name in steps[0]}
    return row | {"passes": _passes(spec, size), "planned": _planned(loaded, spec, trainer, size)}


def _memory(trainer: TrainerRank, groups: list[GroupBatch]) -> Row:
    """Bytes held with gradients of a second mini-batch open, and the most in the first one, with what the device lacked
    beside it: in a gang collectives have buffers, too."""
    get_accelerator().reset_peak_memory_stats()
    _accumulate(trainer, groups)
    trainer.commit()
    peak, reserve = None if on_cpu() else get_accelerator().max_memory_allocated(), reserve_bytes()
    _accumulate(trainer, groups)
    held = state_bytes(trainer)
    trainer.abort()
    return {f"{part}_bytes": held[part] for part in PARTS} | {"peak_bytes": peak, **reserve}


def _seconds(trainer: TrainerRank, groups: list[GroupBatch]) -> Row:
    """Of an optimizer step that is not the first, until all ranks have taken it, and of this rank's part of a
    publish."""
    torch.distributed.barrier()
    began = _now()
    _accumulate(trainer, groups)
    accumulated = _now()
    trainer.commit()
    committed = _now()
    for copies in trainer.snapshot().values():
        pack(copies, 1)
    return {
        "step_seconds": committed - began,
        "accumulate_seconds": accumulated - began,
        "commit_seconds": committed - accumulated,
        "publish_seconds": _now() - committed,
    }


def _accumulate(trainer: TrainerRank, groups: list[GroupBatch]) -> None:
    num_pairs = trainer._spec.algebra.num_pairs_per_optimizer_step
    accumulate_share(trainer, groups, num_pairs_total=num_pairs, fresh=False)


def _passes(spec: RunSpec, size: int) -> int:
    """Micro-batches of the rank that takes most."""
    return num_micro_batches(spec.algebra, len(PROMPTS), world_size=size, tsp=spec.pipeline.tsp)


def _planned(loaded: LoadedModel, spec: RunSpec, trainer: TrainerRank, size: int) -> dict[str, Any]:
    work = loaded.workload(spec)
    transformer = loaded.resident.transformer
    state = trainer_state(
        zero_stage=spec.deepspeed.zero_stage,
        frozen_bytes=0.0 if work.is_full else sum(each.nbytes for each in transformer.parameters()),
        num_trained=sum(full_numel(each) for each in trainer._trainable.values()),
        num_ranks=size,
        weight_bytes=work.weight_bytes if work.is_full else FP32_BYTES,
        bucket_numel=MAX_BUCKET_NUMEL,
    )
    return {part: getattr(state, part) for part in PARTS}


def _now() -> float:
    get_accelerator().synchronize()
    return time.perf_counter()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
