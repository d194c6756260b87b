"""A reward lane beside a lane that generates, on one card: what each of the two processes gets done, and the memory
that the second one takes.

The planner assumes that they take turns: what both get done, as shares of what each does alone, adds up to 1. Less
means that switching between processes costs time, more that one fills gaps of the other.
"""

import time
from functools import partial
from pathlib import Path

from deepspeed.accelerator import get_accelerator

from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_models import main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.forward_passes import SHIPPED, Passes, Variant
from tests.bench.gpu.neighbour_scorer import NeighbourScorer
from tests.bench.gpu.rates import Work, compared
from tests.bench.gpu.scorer_checkpoints import FULL_SCORERS, TINY_SCORERS, build_scorer
from tests.bench.gpu.stage_runner import GpuBench, free_bytes, free_unused
from worker.contracts.names import RewardDevice, RewardName
from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import scorers_bytes
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import H100

GIB = 2**30
TOGETHER_SECONDS = 3.0
"""How long each rate is measured: dozens of forward passes of FLUX.1 at 512², and hundreds of pictures."""


def run(bench: GpuBench) -> None:
    is_tiny = bench.shapes.name == "tiny"
    name, shapes = (RewardName.CLIP_SCORE, TINY_SCORERS) if is_tiny else (RewardName.PICK_SCORE, FULL_SCORERS)
    path = build_scorer(name, shapes[name], bench.folder / "shared_card", bench.device)
    bench.measure(f"{name} beside forward passes", partial(_both, bench, name, path))


def _both(bench: GpuBench, name: RewardName, path: Path) -> Row:
    loaded, number = main_model(bench), bench.shapes.scorer_pictures
    forward = Passes(bench, loaded, Variant(name=SHIPPED)).work(loaded.model.sizes[0], bench.shapes.batches[-1])
    seconds = 0.2 if bench.shapes.name == "tiny" else TOGETHER_SECONDS
    forward()
    free_unused()
    free = free_bytes(bench.device)
    with NeighbourScorer(name, path, number=number, side=bench.shapes.scorer_side) as scorer:
        taken = 0.0 if on_cpu() else free - free_bytes(bench.device)
        alone = _passes_per_second(forward, seconds)
        scorer.begin(seconds)
        scoring_alone = scorer.end()
        scorer.begin(seconds)
        beside = _passes_per_second(forward, seconds)
        scoring_beside = scorer.end()
    shares = beside / alone + scoring_beside / scoring_alone
    row: Row = {
        "passes_per_second": alone,
        "passes_per_second_beside": beside,
        "pictures_per_second": scoring_alone,
        "pictures_per_second_beside": scoring_beside,
        "shares_together": shares,
        "taken_bytes": taken,
    }
    row["compared"] = compared("two processes on one card, work done ÷ taking turns", 1.0, shares, "")
    if taken:
        row["compared"] += compared("a reward lane that shares a card", planned_bytes(name) / GIB, taken / GIB, "GiB")
    return row


def _passes_per_second(forward: Work, seconds: float) -> float:
    began, number = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        forward()
        get_accelerator().synchronize()
        number += 1
    return number / (time.monotonic() - began)


def planned_bytes(name: RewardName) -> float:
    """What the memory plan, which is the same for every accelerator, counts for the networks of reward `name`."""
    spec = RunSpec.model_validate(
        {"prompts": {"inline": ["a"]}, "rewards": [{"name": name.value}], "batch": {"num_prompts_per_batch": 1}}
    )
    return scorers_bytes(Workload.of(spec.scoring_on(RewardDevice.SHARED_GPU)), H100)
