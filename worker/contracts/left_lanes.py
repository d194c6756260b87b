"""What the job `worker.engine.end_lanes` is told: the lanes of a lost attempt that no other goes on with."""

from uuid import UUID

from worker.contracts.base import Contract, Count

LEFT_LANES_VARIABLE = "TANDEM_LEFT_LANES"
"""The variable of the job's environment with a `LeftLanes` as JSON."""


class LeftLanes(Contract):
    """Lanes whose processes may have outlived their driver."""

    run: UUID
    attempt: Count
    """The attempt whose lanes they are; those of later ones are left alone."""
    lanes: tuple[str, ...]
    """Their names in that attempt."""
