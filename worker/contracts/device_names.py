"""Names of devices: of cards as their drivers say them, of the planner's profiles, and of lanes of several cards, which
begin with how many these are (`2 × NVIDIA H100 80GB HBM3`, `2 × h100`)."""

import re

PROFILED_DEVICES = ("l40s", "h100", "h200", "h20", "cpu", "host")
"""The names of `worker.scheduling.profiles.hardware`."""
_SEVERAL = re.compile(r"(?P<number>[2-9]|1[0-6]) × (?P<one>.*)")
"""At most as many as a pool's lanes have."""


def known_profile(device: str) -> str | None:
    """The profile of a device by its driver's name, `NVIDIA H100 80GB HBM3` → `h100`; `None` for a device without one,
    and for a slice of a card, which has a share of the card's memory and processors."""
    words = device.lower().replace("-", " ").split()
    return None if "mig" in words else next((name for name in PROFILED_DEVICES if name in words), None)


def several(device: str, num_gpus: int) -> str:
    """The name of a lane of so many such devices; of one, the device's own."""
    return device if num_gpus <= 1 else f"{num_gpus} × {device}"


def divided(name: str) -> tuple[int, str]:
    """How many devices a name says that a lane has, and the name of one."""
    found = _SEVERAL.fullmatch(name)
    return (int(found["number"]), found["one"]) if found else (1, name)


def can_train(name: str) -> bool:
    """Whether a lane of that name can train: the ranks of a lane of several GPUs each have a part of the gradient, to
    be summed, which DeepSpeed would average with those of other lanes."""
    return divided(name)[0] == 1
