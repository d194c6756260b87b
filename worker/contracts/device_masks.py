"""The environment variables by which a shared box hides devices from a process, read as the vendors' libraries do.

```text
devices of the node, by their driver ─► each mask of their vendor in turn ─► those that this process may use
```

* NVIDIA: `CUDA_VISIBLE_DEVICES` lists numbers, UUIDs or beginnings of UUIDs; the first entry that is no device ends the
  list (CUDA C++ Programming Guide, "CUDA Environment Variables").
* AMD: `ROCR_VISIBLE_DEVICES` likewise; `HIP_VISIBLE_DEVICES`, or else `CUDA_VISIBLE_DEVICES`, counts what it leaves
  (ROCm documentation, "GPU isolation techniques").
* Ascend: `ASCEND_RT_VISIBLE_DEVICES` lists numbers (CANN documentation, "Environment variables").

Invariant: a variable that is not set hides nothing, one that is empty hides everything.
"""

from collections.abc import Mapping, Sequence

from worker.contracts.node_reports import GpuIdentity, Vendor

CUDA_MASK, ROCR_MASK, HIP_MASK = "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"
ASCEND_MASK = "ASCEND_RT_VISIBLE_DEVICES"
CUDA_ORDER, BY_PCI_ADDRESS = "CUDA_DEVICE_ORDER", "PCI_BUS_ID"
"""By default CUDA counts the fastest card first; drivers' tools, and so Tandem, count by PCI address."""
MASKS = {
    Vendor.NVIDIA: (CUDA_MASK,),
    Vendor.AMD: (ROCR_MASK, HIP_MASK, CUDA_MASK),
    Vendor.ASCEND: (ASCEND_MASK,),
}
"""The variables that each vendor's libraries read. Tandem writes the first of them."""


def takes_uuid(vendor: str, uuid: str) -> bool:
    """Whether a vendor's library knows the device by this UUID: Ascend's takes numbers only, and AMD's none of those
    that the node agent made for partitions."""
    return vendor == Vendor.NVIDIA or (vendor == Vendor.AMD and uuid.removeprefix("GPU-").isalnum())


class AmbiguousMaskError(ValueError):
    """What a mask hides cannot be told."""


def visible_devices(devices: Sequence[GpuIdentity], environment: Mapping[str, str]) -> tuple[GpuIdentity, ...]:
    """Those of a node's devices that its masks leave, in the order of `devices`. A card that is cut into MIG slices is
    named by its own number or UUID, or slice by slice.

    Raises:
        AmbiguousMaskError: for numbers of cards of several models that CUDA counts by their speed.
    """
    left = list(devices)
    for vendor in dict.fromkeys(device.vendor for device in devices):
        own = [device for device in devices if device.vendor is vendor]
        kept = {device.uuid for device in _of_vendor(vendor, own, environment)}
        left = [device for device in left if device.vendor is not vendor or device.uuid in kept]
    return tuple(left)


def _of_vendor(vendor: Vendor, devices: Sequence[GpuIdentity], environment: Mapping[str, str]) -> Sequence[GpuIdentity]:
    given = [environment[name] for name in MASKS[vendor] if name in environment]
    if vendor is Vendor.NVIDIA and given:
        _check_order(given[0], devices, environment)
    if vendor is Vendor.AMD and ROCR_MASK not in environment:
        given = given[:1]
    for number, mask in enumerate(given[:2]):
        # A second mask counts what the first has left; the first counts by the driver, as devices' indices do.
        devices = _left_by(mask, devices, list(dict.fromkeys(device.index for device in devices)) if number else None)
    return devices


def _left_by(mask: str, devices: Sequence[GpuIdentity], counted: list[int] | None) -> list[GpuIdentity]:
    """`counted`: the indices on the node of what the mask's numbers count; `None` for all devices."""
    left: list[GpuIdentity] = []
    for entry in entries(mask):
        found = [device for device in devices if _is_named(entry, device, counted)]
        if not found:
            break
        left += [device for device in found if device not in left]
    return left


def entries(mask: str) -> list[str]:
    """What a mask lists."""
    return [entry.strip() for entry in mask.split(",") if entry.strip()]


def _is_named(entry: str, device: GpuIdentity, counted: list[int] | None) -> bool:
    if entry.isdecimal():
        number = int(entry)
        index = number if counted is None else dict(enumerate(counted)).get(number)
        return device.index == index
    return any(uuid.lower().startswith(entry.lower()) for uuid in (device.uuid, device.parent_uuid) if uuid)


def _check_order(mask: str, devices: Sequence[GpuIdentity], environment: Mapping[str, str]) -> None:
    models = sorted({device.model for device in devices})
    has_numbers = any(entry.isdecimal() for entry in entries(mask))
    if has_numbers and len(models) > 1 and environment.get(CUDA_ORDER) != BY_PCI_ADDRESS:
        raise AmbiguousMaskError(
            f"`{CUDA_MASK}` is `{mask}` on a node of {' and '.join(models)}, where CUDA counts the fastest card first: "
            f"set `{CUDA_ORDER}={BY_PCI_ADDRESS}`, or name the cards by UUID"
        )
