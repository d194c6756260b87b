"""From the gate statistics of a report to the entries of `BF16_BOUNDS_OF_FAMILY` in `worker.contracts.replay_bounds`.

    bound = MARGIN × the largest statistic over SDEs and kernels × √(blocks of the model ÷ blocks measured)

Rounding errors of blocks are taken for independent, so that their sum grows as the root of the number of blocks; what
was extrapolated so is said in the line, and is measured again with the family's published checkpoint. A family has an
entry only where all SDEs were measured: the largest errors of one are several times those of another.
"""

import math
from collections import defaultdict
from collections.abc import Iterator

from tests.bench.gpu.bench_report import BenchReport, Row
from worker.contracts.names import ModelFamily, SdeType
from worker.contracts.replay_bounds import BF16_BOUNDS, ReplayBounds

STAGES = ("gate", "compiled")
MARGIN = 4.0
"""Twice for trained weights, whose activations have outliers that random ones lack, and twice for sizes, prompts and
schedules that were not measured; an estimate. The bounds that stand on tiny models are 2 to 15 times what they gave."""
SMALLEST_SHARE = 0.1
"""Of the usual bounds: a family's are not tighter. A statistic of 0 says that kernels agreed in the cases measured, not
that they always do."""


def gate_bounds(report: BenchReport) -> dict[ModelFamily, ReplayBounds]:
    """The bounds of each family that the report measures with all SDEs."""
    return {family: _bounds(rows) for family, rows in _measured(report).items()}


def bound_lines(report: BenchReport) -> Iterator[str]:
    """The entries as Python, and what they stand on."""
    for family, rows in _measured(report).items():
        found, share = _bounds(rows), min(row["share_of_layers"] for row in rows)
        whole = "all blocks" if share == 1 else f"{share:.0%} of the blocks, extrapolated to all"
        rms, high, ratio = f"{found.rms_error:g}", f"{found.quantile_error:g}", f"{found.ratio_error:g}"
        yield f"ModelFamily.{family.name}: ReplayBounds(None, {rms}, {high}, {ratio}),  # {whole}"


def _measured(report: BenchReport) -> dict[ModelFamily, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for stage in STAGES:
        for row in report.rows(stage):
            if "kernel" in row:
                found[row["family"]].append(row)
    every = {kernel.value for kernel in SdeType}
    complete = {name: rows for name, rows in found.items() if {row["kernel"] for row in rows} == every}
    return {family: complete[family.value] for family in ModelFamily if family.value in complete}


def _bounds(rows: list[Row]) -> ReplayBounds:
    def bound(statistic: str, usual: float | None) -> float:
        assert usual is not None, "judged in bf16"
        largest = max(row[statistic] / math.sqrt(row["share_of_layers"]) for row in rows)
        return _rounded_up(max(MARGIN * largest, SMALLEST_SHARE * usual))

    return ReplayBounds(
        mean_error=None,
        rms_error=bound("rms", BF16_BOUNDS.rms_error),
        quantile_error=bound("quantile", BF16_BOUNDS.quantile_error),
        ratio_error=bound("ratio_deviation", BF16_BOUNDS.ratio_error),
    )


def _rounded_up(value: float) -> float:
    """To two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    # A value that has two digits already is not raised for the rounding of its division.
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.2g}")
