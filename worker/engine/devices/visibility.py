"""Which devices of its node a process sees.

```text
environment of a shared box ─► remembered ─┐
device of the grant ─► its vendor ─────────┴─► inside what was inherited? ─► the vendor's own variable
```

Invariants: nothing here imports torch, which reads these environment variables once. A device is named by its UUID
wherever its library takes one, which means the same in every order and under every mask; a number is written only where
the inherited mask has it. This package is the only one of `worker.engine` that names vendors.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from worker.contracts.device_masks import BY_PCI_ADDRESS, CUDA_MASK, CUDA_ORDER, MASKS, entries
from worker.contracts.lanes import CPU_DEVICE
from worker.contracts.node_reports import GPU_TRACE_VARIABLE, Vendor, names_same_device
from worker.engine.devices.allocator import set_allocator
from worker.engine.devices.cpu_threads import threads_of_lane, use_threads

VISIBILITY_VARIABLES = tuple(dict.fromkeys(name for names in MASKS.values() for name in names))
"""The environment variables that hide the other devices of a node."""
INHERITED_VARIABLE = "TANDEM_INHERITED_DEVICES"
"""Where the masks that Tandem found are remembered, as JSON: a process that sees one device may start one that sees
another, such as a test of two GPUs."""
_AMD_UUID = re.compile(r"GPU-[0-9a-fA-F]{16}$")
"""NVIDIA's are `GPU-` or `MIG-` and a UUID with hyphens."""
_DEVICE_FILES = {Vendor.ASCEND: "davinci_manager", Vendor.AMD: "kfd"}
"""Below `/dev`, where the vendor's driver is loaded. A number without one of them is NVIDIA's."""


class HiddenDeviceError(RuntimeError):
    """A lane was granted a device that the environment of its node hides."""


def see_only(device: str, *, files: Path = Path("/dev")) -> None:
    """Make one device visible to this process, and give torch its CPU threads; called before torch is imported, or in
    a fork that was imported without accelerators and sees none.

    Args:
        device: `cpu`, or accelerators as `LaneGrant.device` names them: UUIDs, or indices on the node in the order of
            PCI addresses.
        files: where the files of devices are.

    Raises:
        HiddenDeviceError: when the masks that this process inherited hide the device.
    """
    computes_on_cpu = device == CPU_DEVICE or _is_replayed()
    use_threads(threads_of_lane(on_accelerator=not computes_on_cpu))
    os.environ[CUDA_ORDER] = BY_PCI_ADDRESS
    inherited = _inherited()
    if device == CPU_DEVICE:
        for variable in VISIBILITY_VARIABLES:
            os.environ[variable] = ""
    else:
        vendor = _vendor_of(device, files)
        own, *others = MASKS[vendor]
        if not _is_replayed():
            _check_inherited(device, vendor, inherited)
        # What others of the vendor's variables list counts what its own leaves, which is another list from here on.
        for variable in others:
            os.environ.pop(variable, None)
        os.environ[own] = device
        set_allocator()
    if computes_on_cpu:
        os.environ["DS_ACCELERATOR"] = "cpu"


def _inherited() -> Mapping[str, str]:
    """The masks that were set before Tandem set any."""
    if INHERITED_VARIABLE not in os.environ:
        found = {name: os.environ[name] for name in VISIBILITY_VARIABLES if name in os.environ}
        os.environ[INHERITED_VARIABLE] = json.dumps(found)
    masks: dict[str, str] = json.loads(os.environ[INHERITED_VARIABLE])
    return masks


def _vendor_of(device: str, files: Path) -> Vendor:
    if _is_number(device):
        return next((vendor for vendor, name in _DEVICE_FILES.items() if (files / name).exists()), Vendor.NVIDIA)
    return Vendor.AMD if _AMD_UUID.match(device.split(",")[0]) else Vendor.NVIDIA


def _is_number(device: str) -> bool:
    return _kind(device) == "number"


def _kind(device: str) -> str:
    """Of the first of the devices that are listed: a number, or what stands before its UUID."""
    first = device.split(",")[0]
    return "number" if first.isdecimal() else first.partition("-")[0]


def _check_inherited(device: str, vendor: Vendor, inherited: Mapping[str, str]) -> None:
    """A mask of numbers says nothing of UUIDs here, nor one of cards of their slices: the node agent, which knows both,
    offers what the mask leaves only."""
    mask = inherited.get(MASKS[vendor][0])
    if mask is None:
        return
    listed, granted = entries(mask), entries(device)
    if {_kind(entry) for entry in listed} == {_kind(device)}:
        is_hidden = not all(any(names_same_device(entry, part) for entry in listed) for part in granted)
    else:
        is_hidden = not listed or _is_number(device)
    if is_hidden:
        raise HiddenDeviceError(
            f"the lane was granted device {device}, but `{MASKS[vendor][0]}` of its node is `{mask}`: start Ray there "
            "with the devices that the pool may use, or wait until the node agent has read the node again"
        )


def check_device(name: str, device: str) -> None:
    """Raise `RuntimeError` when torch is loaded and finds no accelerator, although `name` was granted one."""
    torch = sys.modules.get("torch")
    if device == CPU_DEVICE or torch is None or _is_replayed():
        return
    if not torch.accelerator.is_available():
        raise RuntimeError(
            f"{name} was granted an accelerator but torch finds none: check the node's drivers, or cordon the node"
        )


def visible_uuids() -> tuple[str, ...]:
    """UUIDs of the accelerators that torch sees in this process; empty where torch is not loaded, or the vendor's
    library tells none."""
    if _is_replayed():
        return tuple(name for name in os.environ.get(CUDA_MASK, "").split(",") if name)
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or torch.version.hip:
        return ()
    return tuple(str(torch.cuda.get_device_properties(index).uuid) for index in range(torch.cuda.device_count()))


def _is_replayed() -> bool:
    """Whether this node's GPUs are a recorded trace."""
    return bool(os.environ.get(GPU_TRACE_VARIABLE))
