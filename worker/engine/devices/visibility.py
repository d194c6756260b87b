"""Which devices of its node a process sees.

Invariant: nothing here imports torch, which reads these environment variables once. This package is the only one of
`worker.engine` that names vendors.
"""

import os
import sys

from worker.contracts.node_reports import GPU_TRACE_VARIABLE
from worker.engine.devices.cpu_threads import threads_of_lane

VISIBILITY_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""The environment variables that hide the other devices of a node, one per vendor. Ray empties them for actors that
request no GPU from Ray, as Tandem's actors do."""


def see_only(device: str) -> None:
    """Make one device visible to this process, and give torch its CPU threads; called before torch is imported.

    Args:
        device: `cpu`, or an accelerator as the visibility variables name it: its UUID, or its index on the node in the
            order of PCI addresses.
    """
    computes_on_cpu = device == "cpu" or _is_replayed()
    os.environ["OMP_NUM_THREADS"] = str(threads_of_lane(on_accelerator=not computes_on_cpu))
    # By default CUDA counts the fastest card first, drivers' tools by PCI address.
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    for variable in VISIBILITY_VARIABLES:
        os.environ[variable] = "" if device == "cpu" else device
    if computes_on_cpu:
        os.environ["DS_ACCELERATOR"] = "cpu"


def check_device(name: str, device: str) -> None:
    """Raise `RuntimeError` when torch is loaded and finds no accelerator, although `name` was granted one."""
    torch = sys.modules.get("torch")
    if device == "cpu" or torch is None or _is_replayed():
        return
    if not torch.accelerator.is_available():
        raise RuntimeError(
            f"{name} was granted an accelerator but torch finds none: check the node's drivers, or cordon the node"
        )


def visible_uuids() -> tuple[str, ...]:
    """UUIDs of the accelerators that torch sees in this process; empty where torch is not loaded, or the vendor's
    library tells none."""
    if _is_replayed():
        return tuple(name for name in os.environ.get(VISIBILITY_VARIABLES[0], "").split(",") if name)
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or torch.version.hip:
        return ()
    return tuple(str(torch.cuda.get_device_properties(index).uuid) for index in range(torch.cuda.device_count()))


def _is_replayed() -> bool:
    """Whether this node's GPUs are a recorded trace."""
    return bool(os.environ.get(GPU_TRACE_VARIABLE))
