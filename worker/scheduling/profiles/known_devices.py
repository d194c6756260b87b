"""Finds a device by the name of its profile, or by the figures in it; before either stands how many of them make a
lane, as in `2 × h100`."""

from worker.contracts.device_names import divided
from worker.scheduling.profiles.described_cards import described_card
from worker.scheduling.profiles.hardware import ACCELERATORS, Accelerator


def accelerator(name: str) -> Accelerator:
    """The device of that name. Raises `ValueError` for one that is not described."""
    found = find_accelerator(name)
    if found is None:
        raise ValueError(f"`accelerator` must be one of {', '.join(ACCELERATORS)}, got `{name}`: it has no profile")
    return found


def find_accelerator(name: str) -> Accelerator | None:
    """The device of that name; `None` for one that is not described."""
    number, one = divided(name)
    found = ACCELERATORS.get(one) or described_card(one)
    return None if found is None else found.in_lane_of(number)
