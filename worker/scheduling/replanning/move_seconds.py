"""How long training stands still while other lanes take over the training: ranks write a checkpoint, processes start
and load the model, and read the checkpoint."""

from worker.scheduling.core.costs import GANG, CostKind, MeasuredCostTable
from worker.scheduling.planning.workload import Workload


def move_seconds(work: Workload, measured: MeasuredCostTable) -> float:
    """Seconds of a trainer change, as measured. Of writing and reading a checkpoint, one that was not measured takes as
    long as the other; where neither was, each takes as long as a start for its bytes: a start reads the model, and
    begins processes as well."""
    start = _seconds(measured, CostKind.START) or 0.0
    saved, restored = _seconds(measured, CostKind.CHECKPOINT), _seconds(measured, CostKind.RESTORE)
    if saved is None:
        saved = restored
    if saved is None:
        saved = start * work.checkpoint_bytes / work.weights_bytes
    return saved + start + (saved if restored is None else restored)


def _seconds(measured: MeasuredCostTable, kind: CostKind) -> float | None:
    found = measured.get((GANG, kind))
    return None if found is None else found.cost.seconds()
