"""Which devices the planner has a hardware profile for, by the name that their driver gives them."""

PROFILED_DEVICES = ("l40s", "h100", "h200", "h20", "cpu", "host")
"""The names of `worker.scheduling.profiles.hardware`."""


def known_profile(device: str) -> str | None:
    """The profile of a device by its driver's name, `NVIDIA H100 80GB HBM3` → `h100`; `None` for a device without one,
    and for a slice of a card, which has a share of the card's memory and processors."""
    words = device.lower().replace("-", " ").split()
    return None if "mig" in words else next((name for name in PROFILED_DEVICES if name in words), None)
