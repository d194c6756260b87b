"""The GPU that was chosen is the GPU that is used: lanes report the UUIDs that they see, and the pool compares.

Invariant: only a report that names other devices is a mismatch; a lane that tells none is not proved and not accused.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from fleet.models import Lane, ServiceState
from fleet.states.state_changes import change_state
from worker.contracts.node_reports import are_same_devices

DRIVER = "driver's report"
"""Who cordons, in histories."""


def compare(run_id: UUID, attempt: int, seen: Mapping[str, Sequence[str]]) -> list[str]:
    """Cordon the GPUs of the attempt's lanes that see others, by the lanes' names in the run; returns those names."""
    wrong = []
    for lane in Lane.objects.filter(run_id=run_id, attempt=attempt, name_in_run__in=seen).prefetch_related("gpus"):
        told, granted = seen[lane.name_in_run], [gpu.uuid for gpu in lane.gpus.all()]
        if not told or not all(granted) or are_same_devices(granted, told):
            continue
        wrong.append(lane.name_in_run)
        reason = f"a lane placed on it saw {', '.join(told)}"[:200]
        for gpu in lane.gpus.all():
            change_state(gpu, ServiceState.CORDONED, by=DRIVER, reason=reason)
    return wrong
