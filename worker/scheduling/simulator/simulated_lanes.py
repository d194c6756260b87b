"""The lanes of a simulated run, and when they come and go."""

from dataclasses import dataclass

from worker.contracts.names import LaneRole


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLane:
    """A lane of the simulated run."""

    lane: str
    role: LaneRole
    start_up_seconds: float = 0.0
    """Virtual seconds from the start of the lane until it joins."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A lane starts up at virtual second `at`."""

    at: float
    lane: SimulatedLane


@dataclass(frozen=True, slots=True)
class Loss:
    """A lane is lost at virtual second `at`, with the action that it had under way."""

    at: float
    lane: str


Incident = Arrival | Loss
