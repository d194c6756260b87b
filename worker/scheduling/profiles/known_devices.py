"""Finds a device by the name of its profile, or by the figures in it; before either stands how many of them make a
lane, as in `2 × h100`."""

import re

from worker.scheduling.profiles.described_cards import described_card
from worker.scheduling.profiles.hardware import ACCELERATORS, Accelerator

_SEVERAL = re.compile(r"(?P<number>[2-9]|1[0-6]) × (?P<one>.+)")
"""At most as many as a pool's lanes have."""


def accelerator(name: str) -> Accelerator:
    """The device of that name. Raises `ValueError` for one that is not described."""
    lane = _SEVERAL.fullmatch(name)
    number, one = (int(lane["number"]), lane["one"]) if lane else (1, name)
    found = ACCELERATORS.get(one) or described_card(one)
    if found is None:
        raise ValueError(f"`accelerator` must be one of {', '.join(ACCELERATORS)}, got `{name}`: it has no profile")
    return found.in_lane_of(number)
