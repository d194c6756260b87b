"""A call for which a lane's device had not enough memory: what was asked, what the plan had said, what was done."""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract, Magnitude, Name, Text

MAX_PURPOSES = 32
"""More than twice the parts of the memory plan."""


class MemoryShortage(Contract):
    """One failed call. Its work went on in smaller calls."""

    work: Text
    """What the device was to do, as the rest of a sentence: `generate 16 trajectories`."""
    asked_bytes: Magnitude | None = None
    """What the call asked for last; empty where the device's library does not say."""
    capacity_bytes: Magnitude | None = None
    """The device's memory; empty for a CPU."""
    planned_bytes: Annotated[dict[Name, Magnitude], Field(max_length=MAX_PURPOSES)] = {}
    """What the memory plan says such a lane holds, by purpose; empty for a model or device without a profile."""
    remedy: Text
    """What was done, as a clause: `in calls of 8 from now on`."""

    @property
    def sentence(self) -> str:
        """Without the lane's name, which comes first."""
        asked = "" if self.asked_bytes is None else f" (it asked for {_gib(self.asked_bytes)} more)"
        return f"had no memory to {self.work}{asked}: {self.remedy}. {planned_sentence(self)}".rstrip()


def planned_sentence(shortage: MemoryShortage) -> str:
    """The plan's figures; empty where there are none."""
    if not shortage.planned_bytes:
        return ""
    largest = sorted(shortage.planned_bytes.items(), key=lambda part: -part[1])
    parts = ", ".join(f"{name.replace('_', ' ')} {_gib(held)}" for name, held in largest if held >= 0.05 * 2**30)
    capacity = "" if shortage.capacity_bytes is None else f" of {_gib(shortage.capacity_bytes)}"
    return f"The plan counts {_gib(sum(shortage.planned_bytes.values()))}{capacity}: {parts}."


def _gib(num_bytes: float) -> str:
    return f"{num_bytes / 2**30:.1f} GiB"
