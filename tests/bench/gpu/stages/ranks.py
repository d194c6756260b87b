"""A gang of two trainer ranks: ZeRO 0 to 3 on one model, what each rank holds, steps, and publishing.

One card cannot be a gang; two CPU processes can, on tiny shapes.
"""

from functools import partial
from typing import Any

from deepspeed.accelerator import get_accelerator

from tests.bench.engine_cases import large_case, size_named
from tests.bench.engine_memory import PARTS, measure_ranks
from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.rates import compared
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError

GIB = 2**30


def run(bench: GpuBench) -> None:
    bench.measure("two ranks", partial(_gang, bench))
    for row in bench.kept.get("ranks", ()):
        bench.measure(f"ZeRO {row['stage']}, two ranks", partial(_stage, row))


def _gang(bench: GpuBench) -> Row:
    """Start the ranks, whose rows are kept for the cases that follow."""
    if not on_cpu() and get_accelerator().device_count() < 2:
        raise NotMeasurableError("this machine has one card")
    size = "tiny" if bench.shapes.name == "tiny" else "device"
    path = large_case(size_named(size)).checkpoint(bench.folder)
    rows = measure_ranks(path, size=size)
    bench.kept["ranks"] = rows
    return {"group_seconds": rows[0]["group_seconds"], "ranks": rows[0]["num_ranks"]}


def _stage(found: dict[str, Any]) -> Row:
    row: Row = {name: value for name, value in found.items() if name.endswith("seconds") and name != "group_seconds"}
    row |= {f"{part}_bytes": found[part] for part in PARTS}
    case = f"ZeRO {found['stage']}"
    row["compared"] = [
        line
        for part in PARTS
        for line in compared(f"{case}, two ranks: {part}", found["planned"][part] / GIB, found[part] / GIB, "GiB")
    ]
    return row
