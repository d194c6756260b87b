"""What a unit of work takes on each lane, as the run has measured it, beside lanes with the same device.

    newest `costs` event + lanes and devices of the newest `lanes` event ──► `peer_speeds` ──► seconds, times its peers'

Invariant: lanes are compared at one size of call, and what was only estimated is left out.
"""

from collections.abc import Collection, Mapping
from math import isfinite
from statistics import median
from typing import Annotated, Literal
from uuid import UUID

from pydantic import with_config
from typing_extensions import TypedDict

from fleet.health.peer_speeds import COMPARED, Comparison, comparisons
from telemetry.models import StreamItem
from telemetry.selectors import NUM_TRIED, lanes_of
from telemetry.unreadable import readable
from worker.contracts.base import JsonOf
from worker.contracts.events import WorkCost
from worker.scheduling.core.costs import GANG, CostKind, MeasuredCost, MeasuredCostTable, parse_measured_costs

ComparedKind = Annotated[str, JsonOf(Literal[tuple(kind.value for kind in COMPARED)])]


@with_config(use_attribute_docstrings=True)
class WorkSeconds(TypedDict):
    """What a unit of one kind of work takes on one lane."""

    lane: str
    """`gang` for all trainer lanes together, where they train in step (ZeRO 2 and 3)."""
    work: ComparedKind
    """`generate`: a trajectory, decoding included. `accumulate`: a micro-batch. `score`: an image or clip."""
    seconds: float
    """Of a unit, in a call of `num_units`."""
    num_units: float
    """Units of a call that all lanes are compared at: the median of the most that each was measured at."""
    relative_error: float | None
    """Standard error of the measured seconds of a unit ÷ their mean; null where too few were measured to tell."""
    times_peers: float | None
    """Its seconds ÷ the median of its peers', the lanes with the same device at the same work, itself among them; null
    where fewer than three were measured well enough."""
    num_peers: int
    """Number of lanes that it was compared with, itself among them; 0 where it was not."""
    is_slow: bool
    """Whether it is slower than its peers by more than healthy cards of one model differ, and than chance explains."""


@with_config(use_attribute_docstrings=True)
class LaneSeconds(TypedDict):
    """Measured seconds of a unit of work by lane, in order of work and lane."""

    num_batches: int
    """Complete batches in which they were measured; 0 before the first."""
    seconds: list[WorkSeconds]


def lane_seconds(run_id: UUID) -> LaneSeconds:
    """Of the lanes that the run has by its newest `lanes` event, or had when it ended."""
    reports = StreamItem.objects.filter(run_id=run_id, type="costs").order_by("-stream_seq")[:NUM_TRIED]
    newest = next(readable(reports), None)
    if newest is None:
        return {"num_batches": 0, "seconds": []}
    device_of = {lane["lane"]: lane["device"] for lane in lanes_of(run_id)}
    measured = parse_measured_costs([WorkCost.model_validate(cost) for cost in newest.body["costs"]])
    return {"num_batches": newest.body["batch"], "seconds": _seconds(measured, device_of)}


def _seconds(measured: MeasuredCostTable, device_of: Mapping[str, str]) -> list[WorkSeconds]:
    compared = {(lane, found.work): found for lane, found in comparisons(measured, device_of)}
    rows: list[WorkSeconds] = []
    for kind in COMPARED:
        costs = {lane: cost for (lane, of), cost in measured.items() if of is kind and lane in {*device_of, GANG}}
        size = _size(costs.values())
        rows += [_row(lane, kind, costs[lane], size, compared.get((lane, kind))) for lane in sorted(costs)]
    return rows


def _size(costs: Collection[MeasuredCost]) -> float:
    return median(cost.most_units for cost in costs) if costs else 0.0


def _row(lane: str, kind: CostKind, cost: MeasuredCost, size: float, comparison: Comparison | None) -> WorkSeconds:
    return {
        "lane": lane,
        "work": kind.value,
        "seconds": cost.cost.seconds(size) / size,
        "num_units": size,
        "relative_error": cost.relative_error if isfinite(cost.relative_error) else None,
        "times_peers": None if comparison is None else comparison.factor,
        "num_peers": 0 if comparison is None else comparison.num_lanes,
        "is_slow": comparison is not None and comparison.is_slow,
    }
