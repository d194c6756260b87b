"""What a run reports: a tagged union of events, numbered by the driver within one attempt.

The driver never waits for the web: events are spooled to disk and posted in batches (see `worker.contracts.ingest`).
"""

import posixpath
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from worker.contracts.adapter_files import AdapterFile, listing_sha256
from worker.contracts.any_event import Event, PositiveDuration
from worker.contracts.artifact_paths import ArtifactPath
from worker.contracts.base import (
    MAX_VALUE,
    BigCount,
    Contract,
    Count,
    Duration,
    Index,
    Key,
    LaneId,
    Magnitude,
    Name,
    Sha256,
    ShortText,
    Text,
    Value,
)
from worker.contracts.lane_events import (
    LanesEvent,
    LaneStallEvent,
    LaneStartEvent,
    LendEvent,
    OutOfMemoryEvent,
    SlowLanesEvent,
)
from worker.contracts.names import LaneRole
from worker.contracts.sample_reports import GroupOutcome, SampleInfo
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import Span
from worker.contracts.states import Phase, RunState

MAX_URI_CHARS = 2000
"""Of a file: no file system and no object store takes longer names."""


class PhaseEvent(Event):
    """The driver has entered a phase."""

    type: Literal["phase"] = "phase"
    phase: Phase
    detail: Text = ""


class StateEvent(Event):
    """The state that the driver reports. The web applies it if its transition table allows the move."""

    type: Literal["state"] = "state"
    state: RunState
    reason: Text = ""
    """For a failure: one sentence with field, value and what to do."""
    details: Text = ""
    """For a failure: the traceback or the last log lines."""


class ResumedEvent(Event):
    """This attempt resumed after `batch` complete batches; later points of earlier attempts are superseded."""

    type: Literal["resumed"] = "resumed"
    batch: Index
    policy_version: Index
    optimizer_step: Index


class MetricsEvent(Event):
    """Values keyed by `worker.contracts.metric_names`. `batch` counts complete batches, from 1."""

    type: Literal["metrics"] = "metrics"
    batch: Index
    optimizer_step: Index
    values: dict[Key, Value]


class SpansEvent(Event):
    """Finished spans of any lanes."""

    type: Literal["spans"] = "spans"
    spans: tuple[Span, ...]


class SamplesEvent(Event):
    """Samples for the gallery: of a batch (`train`), of an evaluation, or of a user's request."""

    type: Literal["samples"] = "samples"
    purpose: Literal["train", "evaluate", "request"]
    batch: Index
    policy_version: Index
    samples: tuple[SampleInfo, ...]


class EvaluationEvent(Event):
    """Mean rewards of a held-out evaluation after `batch` complete batches, by reward; `reward` is the weighted sum."""

    type: Literal["evaluation"] = "evaluation"
    batch: Index
    policy_version: Index
    num_samples: Count
    values: dict[Key, Value]


class StalenessEvent(Event):
    """Number of samples of a batch by their staleness when they were trained on."""

    type: Literal["staleness"] = "staleness"
    batch: Index
    counts: dict[Index, Index]


class GroupsEvent(Event):
    """What became of every group of a batch, in index order."""

    type: Literal["groups"] = "groups"
    batch: Index
    groups: tuple[GroupOutcome, ...]


class PublishEvent(Event):
    """A policy version that the trainer published and every rollout lane has pulled and verified."""

    type: Literal["publish"] = "publish"
    policy_version: Index
    num_bytes: BigCount
    num_tensors: Index
    sha256: Sha256
    seconds: Duration
    num_direct: Index = 0
    """Lanes that bound it from their trainers' broadcast, with `pipeline.publishing: direct`."""
    num_missed: Index = 0
    """Lanes that the broadcast was for and that fetched the copy in the object store instead."""


class AdapterEvent(Event):
    """A policy version in diffusers format that users can download: a LoRA file, or folders of whole transformers."""

    type: Literal["adapter"] = "adapter"
    batch: Index
    policy_version: Index
    artifact: ArtifactPath
    """Artifact path of the LoRA file; for several files, the path of their folder."""
    sha256: Sha256
    """Checksum of the LoRA file; for several files, their `listing_sha256`."""
    num_bytes: BigCount
    """Size of all files together, in bytes."""
    final: bool
    """Whether it is the version at the end of the run."""
    files: Annotated[tuple[AdapterFile, ...], Field(min_length=1)]
    """The files, each an artifact of its own at `<folder>/<path>`. A single one is a LoRA; several are sharded weights
    with their config and index."""

    @model_validator(mode="after")
    def _files_add_up(self) -> Self:
        paths = [file.path for file in self.files]
        if len(set(paths)) != len(paths):
            raise ValueError(f"`files` must name each path once, got {', '.join(sorted(paths))}")
        total = sum(file.num_bytes for file in self.files)
        if total != self.num_bytes:
            raise ValueError(f"`num_bytes` must be {total}, the sum over `files`, got {self.num_bytes}")
        is_one = len(self.files) == 1
        if is_one and paths[0] != posixpath.basename(self.artifact):
            raise ValueError(
                f"a single one of `files` must be named as `artifact` is, got {paths[0]} and {self.artifact}"
            )
        expected = self.files[0].sha256 if is_one else listing_sha256(self.files)
        if self.sha256 != expected:
            raise ValueError(f"`sha256` must be the one of `files`, {expected}, got {self.sha256}")
        return self


class CheckpointEvent(Event):
    """A resumable checkpoint in the checkpoint store; it is not uploaded to the web."""

    type: Literal["checkpoint"] = "checkpoint"
    batch: Index
    policy_version: Index
    optimizer_step: Index
    uri: Annotated[str, Field(min_length=1, max_length=MAX_URI_CHARS)]
    num_bytes: BigCount


class GateEvent(Event):
    """The result of the replay gate on a batch's first update, with the values that it compared."""

    type: Literal["gate"] = "gate"
    gate: Literal["replay"]
    batch: Index
    passed: bool
    values: dict[Key, Value]


class RewardChange(Contract):
    """How a reward's mean changed over some batches."""

    change: Value
    """From the first to the last batch, by a line fitted to the batches' means."""
    standard_error: Magnitude
    """Of `change`."""


class RewardHackingEvent(Event):
    """Reward hacking has become suspected, or ceased to be: the optimised reward rises while a monitored one falls,
    both beyond their noise. It is a hint to look at the samples, not a proof."""

    type: Literal["reward_hacking"] = "reward_hacking"
    suspected: bool
    batch: Index
    """The last of the batches that were looked at."""
    num_batches: Count
    """Number of batches over which the changes are measured."""
    monitored: Key
    """Key of the monitored reward."""
    optimised_change: RewardChange
    monitored_change: RewardChange


class QueueEvent(Event):
    """Lengths of the queues at one moment: fragments to generate, fragments to score, groups ready to train."""

    type: Literal["queues"] = "queues"
    batch: Index
    depths: dict[Key, Index]


class WorkCost(Contract):
    """The cost of one kind of work on a lane: seconds = `per_call` + units × `per_unit`."""

    lane: Key
    """A lane's id, or `gang` for all trainer lanes together; of a plan or of earlier runs, a kind of device."""
    kind: Name
    """The kind of work, one of those that `worker.scheduling.core.costs` defines with their units."""
    per_call: Duration
    """Seconds of a call, whatever its size."""
    per_unit: Duration
    """Seconds of each unit of a call."""
    observed_units: tuple[Count, Count] | None = None
    """The fewest and the most units of one call that were measured. If both are equal, only the sum for that size is
    known, not how it divides into `per_call` and `per_unit`. Empty: the cost is an estimate."""
    relative_error: Magnitude | None = None
    """The standard error of the measured seconds of a unit ÷ their mean; empty where too few were measured to tell."""
    slowdown: Annotated[float, Field(ge=1, le=MAX_VALUE)] = 1.0
    """How many times as long as at first the lane takes, where it turned slow while it was measured."""


class CostsEvent(Event):
    """Costs of work on this run's lanes, as measured in `batch` complete batches; a later event replaces it."""

    type: Literal["costs"] = "costs"
    batch: Index
    costs: tuple[WorkCost, ...]


class PlanEvent(Event):
    """A run on `placement: auto` works by a new plan, made from the costs that it has measured."""

    type: Literal["plan"] = "plan"
    batch: Index
    """Complete batches when the plan took effect."""
    reason: Text
    """What changes, why, and what it is predicted to gain, in a sentence or two."""
    pipeline: PipelineSpec
    """The switches from now on."""
    fragment_size: Count
    """Trajectories of a fragment in batches that begin from now on."""
    lanes: dict[LaneId, LaneRole]
    """The run's lanes and their roles from now on."""
    seconds_before: PositiveDuration
    """Seconds of a batch that were predicted had nothing changed."""
    batch_seconds: PositiveDuration
    """Seconds of a batch that are predicted from now on."""
    bound_seconds: Duration
    """Seconds of a batch that no schedule beats, by the measured costs."""
    predicted_move_seconds: Duration
    """Seconds for which training was expected to stand still for the change; 0 where the trainer lanes stay."""
    move_seconds: Duration
    """Seconds for which it did."""


class SoftwareEvent(Event):
    """The software that an attempt's driver runs with."""

    type: Literal["software"] = "software"
    versions: dict[Key, ShortText]
    """The version of Tandem, of Python and of each package that may change what a run computes, by name."""


class LogEvent(Event):
    """A line of a lane's or the driver's log."""

    type: Literal["log"] = "log"
    level: Literal["debug", "info", "warning", "error"]
    source: ShortText
    """The lane's id, or `driver`."""
    message: Text


class CommandDoneEvent(Event):
    """The answer to a `RunCommand`."""

    type: Literal["command_done"] = "command_done"
    command_id: ShortText
    accepted: bool
    detail: Text = ""


RunEvent = Annotated[
    PhaseEvent
    | LanesEvent
    | LaneStartEvent
    | LaneStallEvent
    | OutOfMemoryEvent
    | SlowLanesEvent
    | StateEvent
    | ResumedEvent
    | MetricsEvent
    | SpansEvent
    | SamplesEvent
    | EvaluationEvent
    | StalenessEvent
    | GroupsEvent
    | PublishEvent
    | AdapterEvent
    | CheckpointEvent
    | GateEvent
    | RewardHackingEvent
    | QueueEvent
    | LendEvent
    | CostsEvent
    | PlanEvent
    | SoftwareEvent
    | LogEvent
    | CommandDoneEvent,
    Field(discriminator="type"),
]

run_event_adapter: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
