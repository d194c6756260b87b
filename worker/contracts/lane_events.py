"""What a run reports of its lanes: which it has, that they start, hang, lack memory, are slow, or are lent."""

from typing import Annotated, Literal

from pydantic import Field

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.any_event import Event, PositiveDuration
from worker.contracts.base import MAX_CLOCK_SECONDS, Count, Duration, Index, LaneId, Magnitude, Text, UnixTime
from worker.contracts.lanes import LaneInfo, LaneWork, StallState, StartStep
from worker.contracts.memory_shortages import MemoryShortage
from worker.contracts.resizing import ResizeReport

SignedSeconds = Annotated[float, Field(ge=-MAX_CLOCK_SECONDS, le=MAX_CLOCK_SECONDS)]
"""A difference between two lengths of time."""


class LanesEvent(Event):
    """All lanes of the run, and the batch algebra; a later event replaces it. It comes when lanes are placed, and at
    each step of a resize."""

    type: Literal["lanes"] = "lanes"
    lanes: tuple[LaneInfo, ...]
    algebra: BatchAlgebra
    resize: ResizeReport | None = None
    """The resize under way, or the one that has just ended."""


class LaneStartEvent(Event):
    """Lanes are a step further on their way to work: at a run's start, and where a process is started anew. Trainer
    lanes are ready together, since they form one process group."""

    type: Literal["lane_start"] = "lane_start"
    step: StartStep
    lanes: Annotated[tuple[LaneId, ...], Field(min_length=1)]


class LaneStallEvent(Event):
    """A lane makes no progress with what it was called for, was ended for that, or goes on after all."""

    type: Literal["lane_stall"] = "lane_stall"
    lane: LaneId
    work: LaneWork
    state: StallState
    since: UnixTime
    """Unix time of the last sign of progress."""
    limit_seconds: PositiveDuration
    """After so many seconds without one its process is ended."""
    longest_seconds: Duration | None = None
    """What the longest such call took that was measured; empty before the first has ended."""
    stack: tuple[Text, ...] = ()
    """Where in its program the lane is, the innermost call last; empty while its process does not answer."""


class OutOfMemoryEvent(Event):
    """A lane's device had not enough memory for a call. The work goes on in smaller calls."""

    type: Literal["out_of_memory"] = "out_of_memory"
    lane: LaneId
    shortage: MemoryShortage
    sentence: Text
    """What happened and what the plan had said, without the lane's name, which comes first."""


class SlowLanesEvent(Event):
    """The lanes that are far slower than usual for their kind, as a run that re-plans has measured them; a later event
    replaces it. Usual for a lane alone of its kind is what it took at first."""

    type: Literal["slow_lanes"] = "slow_lanes"
    batch: Index
    """Complete batches in which it was measured."""
    lanes: dict[LaneId, Magnitude]
    """By lane: its seconds ÷ those of its kind, over what it generates and trains. Empty: none is slow any more."""


class LendEvent(Event):
    """A decision to lend idle trainer lanes to generation. It is reported when made, and again when its gain is
    known."""

    type: Literal["lend"] = "lend"
    decision: Count
    """Number of the decision within the run, from 1; both reports carry it."""
    batch: Index
    lanes: tuple[LaneId, ...]
    """The trainer lanes lent."""
    num_fragments: Count
    """Fragments that each lane may generate before the next decision on it."""
    predicted_gain_seconds: SignedSeconds | None = None
    """Seconds by which the open batches were predicted to end sooner; empty if nothing was predicted (greedy)."""
    least_gain_seconds: SignedSeconds | None = None
    """The threshold in force: for less the policy would not have lent. Empty if nothing was predicted (greedy)."""
    realised_gain_seconds: SignedSeconds | None = None
    """Predicted end without lending − actual end, in seconds; given once those batches have ended."""
