"""The columns of a run that follow from its spec."""

from typing import Any

from runs.planning.cost_history import workload_of
from worker.contracts.run_spec import RunSpec


def spec_columns(spec: RunSpec) -> dict[str, Any]:
    return {
        "spec": spec.model_dump(mode="json"),
        "algebra": spec.algebra.model_dump(mode="json"),
        "num_batches": spec.num_batches,
        "max_attempts": spec.max_attempts,
        "priority": spec.priority.rank,
        "pool": spec.lanes.pool,
        "workload": workload_of(spec),
    }
