"""Successive halving by Optuna: the rungs, in samples that a run has trained on, and what Optuna says at them.

The rows of `RungReport` are the only state. A study is made of them in memory whenever a point is to be judged: each
stored report is told to Optuna again, in its order, by Optuna's own `Trial.report` and `Trial.should_prune`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sweeps.sweep_plan import Objective, Pruner, PrunerKind


@dataclass(frozen=True, slots=True)
class Report:
    """The objective of a point at a rung."""

    point: int
    num_samples: int
    value: float


def rungs(pruner: Pruner, num_samples: int) -> list[int]:
    """The rungs before the end of a run that trains on `num_samples`; none without a pruner."""
    found: list[int] = []
    if pruner.kind is PrunerKind.NONE or pruner.min_samples is None:
        return found
    rung = pruner.min_samples
    while rung < num_samples:
        found.append(rung)
        rung *= pruner.reduction_factor
    return found


def batches_to(rung: int, num_samples_per_batch: int) -> int:
    """Complete batches after which a run has trained on at least so many samples."""
    return math.ceil(rung / num_samples_per_batch)


def verdicts(pruner: Pruner, objective: Objective, reports: Sequence[Report]) -> list[bool]:
    """Whether Optuna prunes the point, for each report, told in this order."""
    if not reports or pruner.min_samples is None:
        return []
    # Optuna takes half a second to import, which only processes that judge points are to pay for.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize" if objective.maximise else "minimize",
        pruner=optuna.pruners.SuccessiveHalvingPruner(
            min_resource=pruner.min_samples, reduction_factor=pruner.reduction_factor
        ),
    )
    trials = {point: study.ask() for point in sorted({report.point for report in reports})}
    said: list[bool] = []
    for report in reports:
        trial = trials[report.point]
        trial.report(report.value, report.num_samples)
        said.append(trial.should_prune())
    return said
