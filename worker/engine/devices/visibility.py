"""Which devices of its node a process sees.

Invariant: nothing here imports torch, which reads these environment variables once. This package is the only one of
`worker.engine` that names vendors.
"""

import os
import sys

VISIBILITY_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""The environment variables that hide the other devices of a node, one per vendor. Ray empties them for actors that
request no GPU from Ray, as Tandem's actors do."""


def see_only(device: str) -> None:
    """Make one device visible to this process, and give torch one CPU thread; called before torch is imported.

    Args:
        device: `cpu`, or an accelerator as the visibility variables name it, e.g. its index on the node.
    """
    is_cpu = device == "cpu"
    os.environ["OMP_NUM_THREADS"] = "1"
    for variable in VISIBILITY_VARIABLES:
        os.environ[variable] = "" if is_cpu else device
    if is_cpu:
        os.environ["DS_ACCELERATOR"] = "cpu"


def check_device(name: str, device: str) -> None:
    """Raise `RuntimeError` when torch is loaded and finds no accelerator, although `name` was granted one."""
    torch = sys.modules.get("torch")
    if device != "cpu" and torch is not None and not torch.accelerator.is_available():
        raise RuntimeError(
            f"{name} was granted an accelerator but torch finds none: check the node's drivers, or cordon the node"
        )
