"""Names of devices: of cards as their drivers say them, of the planner's profiles, and of lanes of several cards, which
begin with how many these are (`2 × NVIDIA H100 80GB HBM3`, `2 × h100`)."""

import re

PROFILED_DEVICES = ("l40s", "h100", "h200", "h20", "cpu", "host")
"""The names of `worker.scheduling.profiles.hardware`."""
_BY_DRIVER = {
    "nvidia l40s": "l40s",
    "nvidia h100 80gb hbm3": "h100",
    "nvidia h200": "h200",
    "nvidia h20": "h20",
}
"""The profiles by the names of the very boards that they describe, in lower case, as NVML, nvidia-smi and torch give
them. Boards of one chip differ by a third in memory, bandwidth and arithmetic, and by the links to their neighbours:
`NVIDIA H100 PCIe` (once `NVIDIA H100 80GB HBM2e`), `NVIDIA H100 NVL`, `NVIDIA H200 NVL` and `NVIDIA H20-3e` are none of
these."""
MAX_GPUS_PER_LANE = 16
"""The most cards of one machine that share NVLink (HGX-2: two boards of eight)."""
_SEVERAL = re.compile(r"(?P<number>[2-9]|1[0-6]) × (?P<one>.*)")


def known_profile(device: str) -> str | None:
    """The profile of a device by its driver's name, `NVIDIA H100 80GB HBM3` → `h100`, or by the profile's own; `None`
    for any other, such as a slice of a card, which has a share of its memory and processors."""
    name = device.lower()
    return name if name in PROFILED_DEVICES else _BY_DRIVER.get(name)


def several(device: str, num_gpus: int) -> str:
    """The name of a lane of so many such devices; of one, the device's own."""
    return device if num_gpus <= 1 else f"{num_gpus} × {device}"


def divided(name: str) -> tuple[int, str]:
    """How many devices a name says that a lane has, and the name of one."""
    found = _SEVERAL.fullmatch(name)
    return (int(found["number"]), found["one"]) if found else (1, name)
