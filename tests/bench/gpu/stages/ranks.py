"""A gang of two trainer ranks: ZeRO 0 to 3 with LoRA and with all weights, what each rank holds, steps with and without
time-step parallelism, and publishing.

One card cannot be a gang; two CPU processes can, on tiny shapes.
"""

from functools import partial

from deepspeed.accelerator import get_accelerator

from tests.bench.engine_memory import PARTS
from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.gang import Gang
from tests.bench.gpu.rates import compared
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError, free_unused
from tests.bench.gpu.trainer_ranks import CASES, WITH_TSP, WITHOUT_TSP
from worker.engine.trainer.zero.process_group import free_port

GIB = 2**30
NUM_RANKS = 2
MODULE = "tests.bench.gpu.trainer_ranks"
ANSWER_SECONDS = 40.0
"""How long a case that is open when the stage's budget ends may take: less than the supervisor's grace, after which
what the ranks have written is lost."""


def run(bench: GpuBench) -> None:
    if not on_cpu() and get_accelerator().device_count() < NUM_RANKS:
        bench.measure("two ranks", _refused)
        return
    # The first rank is on this process's card.
    bench.kept.clear()
    free_unused()
    waiting = [case.name for case in CASES]
    while waiting and bench.seconds_left > 0:
        waiting = _measured_until_one_fails(bench, waiting)
    for name in waiting:
        bench.skip(name, "no time is left in the stage's budget")


def _refused() -> Row:
    raise NotMeasurableError("this machine has one card")


def _measured_until_one_fails(bench: GpuBench, names: list[str]) -> list[str]:
    """Measure `names` by one gang; those that are left where a case took a rank with it."""
    with Gang(MODULE, names, size=NUM_RANKS, port=free_port(), folder=bench.folder) as gang:
        for number, name in enumerate(names, 1):
            row = bench.measure(name, partial(_row, bench, gang, name))
            if "seconds_taken" not in row:
                return names[number:]
    return []


def _row(bench: GpuBench, gang: Gang, name: str) -> Row:
    found = gang.row(bench.seconds_left + ANSWER_SECONDS)
    planned = found.pop("planned")
    found["compared"] = [
        line
        for part in PARTS
        for line in compared(f"{name}, two ranks: {part}", planned[part] / GIB, found[f"{part}_bytes"] / GIB, "GiB")
    ]
    if name == WITH_TSP:
        bench.kept[WITH_TSP] = found
    if name == WITHOUT_TSP and (with_tsp := bench.kept.get(WITH_TSP)):
        # Equal micro-batches, of which the rank that has most decides.
        planned_ratio = found["passes"] / with_tsp["passes"]
        ratio = found["step_seconds"] / with_tsp["step_seconds"]
        found["compared"] += compared("an optimizer step without TSP ÷ with it", planned_ratio, ratio, "")
    return found
