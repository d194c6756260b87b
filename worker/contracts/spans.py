"""Spans: what each lane did when. Invariant: every second of a lane between joining and leaving lies in exactly one
span."""

from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from worker.contracts.base import Contract, Index, LaneId, UnixTime


class SpanKind(StrEnum):
    GENERATE = "generate"
    LENT_GENERATE = "lent_generate"
    DECODE = "decode"
    ENCODE = "encode"
    SCORE = "score"
    TRAIN = "train"
    PUBLISH = "publish"
    PULL = "pull"
    SWITCH = "switch"
    EVALUATE = "evaluate"
    CHECKPOINT = "checkpoint"
    PAUSE = "pause"
    IDLE = "idle"


class IdleCause(StrEnum):
    DISPATCH = "dispatch"
    """Between two calls: the results of one are stored, the scheduler decides, and the next is on its way."""
    NO_FRAGMENT_READY = "no_fragment_ready"
    HEAD_OF_LINE = "head_of_line"
    GROUP_INCOMPLETE = "group_incomplete"
    REWARD_PENDING = "reward_pending"
    BATCH_BARRIER = "batch_barrier"
    GANG_BARRIER = "gang_barrier"
    BACK_PRESSURE = "back_pressure"
    PUBLISH_WAIT = "publish_wait"
    START_UP = "start_up"
    DRAIN = "drain"
    FAILURE = "failure"
    RESIZE = "resize"


MAX_RANK = 2**15 - 1
"""Eight times the most lanes that a gang may have."""


class Span(Contract):
    """A half-open stretch `[start, end)` of one lane's time, in seconds of the driver's clock (Unix time)."""

    lane: LaneId
    rank: Annotated[Index, Field(le=MAX_RANK)] | None = None
    """The lane's rank in the trainer gang; null for rollout and reward lanes."""
    kind: SpanKind
    start: UnixTime
    end: UnixTime
    cause: IdleCause | None = None
    """Why the lane had nothing to do; given exactly for idle spans."""
    batch: Index | None = None
    group: Index | None = None
    fragment: Index | None = None
    """Index of the fragment within its group."""
    policy_version: Index | None = None
    num_samples: Index = 0
    """Number of trajectories that were generated or scored; 0 for training, which is divided by micro-batches."""
    num_units: Index = 0
    """Number of units that this lane did, as its costs count them: trajectories generated, images or clips decoded or
    scored, passes of training (micro-batches, and passes of weight 0 beside them); 0 for work whose cost has no
    unit."""
    for_run: UUID | None = None
    """Id of the run that the lane worked for; null while it idled or paused, and in simulations."""

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"`end` must be ≥ `start` ({self.start}), got {self.end}: a span does not run backwards")
        if (self.kind is SpanKind.IDLE) != (self.cause is not None):
            raise ValueError(
                f"`cause` must be given for idle spans and only for them, got {self.cause} for {self.kind}"
            )
        return self
