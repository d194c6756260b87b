"""Re-planning: what a run on `placement: auto` is given so that it can plan anew while it works.

    web: spec as asked, devices, measured costs of earlier runs ─► `ReplanBasis` in the bootstrap answer ─► driver
    driver: a plan that it goes on by ─► `plan` event (`worker.contracts.events`) ─► plan revision

Invariant: with this basis the driver plans as the web did, so what differs are the costs that the run has measured.
"""

from worker.contracts.base import Contract
from worker.contracts.events import WorkCost
from worker.contracts.run_spec import RunSpec


class ReplanBasis(Contract):
    """The input of the run's first plan."""

    asked: RunSpec
    """What the user asked for, with `placement: auto`."""
    devices: dict[str, str] = {}
    """By id of a lane that generates or trains, the name of its device's profile. Empty where some device has none."""
    history: tuple[tuple[WorkCost, ...], ...] = ()
    """Costs that earlier runs of this workload have measured, by run, newest first."""
