"""The GPU that was asked for is the one that this process computes on."""

from worker.contracts.node_reports import are_same_devices
from worker.engine.devices.selection import resolve_device
from worker.engine.devices.visibility import check_device, visible_uuids
from worker.engine.gpu_test.outcomes import StepFailedError


def check_seen_device(device: str, uuid: str) -> str:
    """Compare the UUID that was asked for with the driver's.

    Args:
        device: the GPU, as `see_only` was given it.
        uuid: its UUID; empty where nobody knows it.

    Raises:
        StepFailedError: the process sees another GPU, or several.
        RuntimeError: as `check_device`.
    """
    computes_on = resolve_device(None)
    check_device("the test", device)
    seen = visible_uuids()
    if uuid and seen and not are_same_devices([uuid], seen):
        raise StepFailedError(f"asked for {uuid}, the driver shows {', '.join(seen)}")
    proof = f"its UUID is {seen[0]}" if uuid and seen else "its UUID cannot be compared"
    return f"{device} computes on {computes_on}, {proof}"
