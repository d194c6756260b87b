"""Which devices of its node a process sees. Nothing here imports torch, which reads these variables once.

The only place, with the rest of this room, that names vendors.
"""

import os
import sys

VISIBILITY_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""What hides the other devices of a node. Ray empties them for actors that ask Ray for no GPU, as ours do."""


def see_only(device: str) -> None:
    """Show this process one device: `cpu`, or the accelerator's index on its node. Call it before torch is imported."""
    is_cpu = device == "cpu"
    os.environ["OMP_NUM_THREADS"] = "1"
    for variable in VISIBILITY_VARIABLES:
        os.environ[variable] = "" if is_cpu else device
    if is_cpu:
        os.environ["DS_ACCELERATOR"] = "cpu"


def check_device(name: str, device: str) -> None:
    """Raises `RuntimeError` when torch, once loaded, finds no accelerator where one was granted to `name`."""
    torch = sys.modules.get("torch")
    if device != "cpu" and torch is not None and not torch.accelerator.is_available():
        raise RuntimeError(
            f"{name} was granted an accelerator but torch finds none: check the node's drivers, or cordon the node"
        )
