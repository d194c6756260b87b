"""Finds a device by the name of its profile, or by the figures in it."""

from worker.scheduling.profiles.described_cards import described_card
from worker.scheduling.profiles.hardware import ACCELERATORS, Accelerator


def accelerator(name: str) -> Accelerator:
    """The device of that name. Raises `ValueError` for one that is not described."""
    found = ACCELERATORS.get(name) or described_card(name)
    if found is None:
        raise ValueError(f"`accelerator` must be one of {', '.join(ACCELERATORS)}, got `{name}`: it has no profile")
    return found
