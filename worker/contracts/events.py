"""What a run reports: a tagged union of events, numbered by the driver within one attempt.

The driver never waits for the web: events are spooled to disk and posted in batches (see `worker.contracts.ingest`).
"""

import hashlib
import posixpath
from collections.abc import Iterable
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.base import Contract, Count, Index, Name
from worker.contracts.names import LaneRole
from worker.contracts.spans import Span
from worker.contracts.states import RunState


class Event(Contract):
    """What every event carries. `seq` counts from 1 without gaps within an attempt; `at` is Unix time in seconds."""

    seq: Count
    at: float


class Phase(StrEnum):
    """What the driver is doing, for the lifecycle stepper and for "why it failed"."""

    BOOTSTRAP = "bootstrap"
    PLACE_LANES = "place_lanes"
    LOAD_MODEL = "load_model"
    RESTORE = "restore"
    EVALUATE = "evaluate"
    TRAIN = "train"
    CHECKPOINT = "checkpoint"
    EXPORT = "export"
    FINISH = "finish"


class PhaseEvent(Event):
    type: Literal["phase"] = "phase"
    phase: Phase
    detail: str = ""


class LaneInfo(Contract):
    """Where a lane landed."""

    lane: str
    role: LaneRole
    node: str
    device: str
    pid: Index


class LanesEvent(Event):
    """All lanes of the run as they stand now, and the resolved algebra."""

    type: Literal["lanes"] = "lanes"
    lanes: tuple[LaneInfo, ...]
    algebra: BatchAlgebra


class StateEvent(Event):
    """The driver's word on the run's state; the web's transition table has the last word."""

    type: Literal["state"] = "state"
    state: RunState
    reason: str = ""
    """For a failure: one plain sentence with field, value and what to do."""
    details: str = ""
    """For a failure: the traceback or the last log lines."""


class ResumedEvent(Event):
    """This attempt goes on after `batch` complete batches; later points of earlier attempts are superseded."""

    type: Literal["resumed"] = "resumed"
    batch: Index
    policy_version: Index
    optimizer_step: Index


class MetricsEvent(Event):
    """Values keyed by `worker.contracts.metric_names`. `batch` counts complete batches, from 1."""

    type: Literal["metrics"] = "metrics"
    batch: Index
    optimizer_step: Index
    values: dict[str, float]


class SpansEvent(Event):
    type: Literal["spans"] = "spans"
    spans: tuple[Span, ...]


class SampleInfo(Contract):
    """One picture or clip shown: of a batch (`purpose: train`), an evaluation, or asked for by the user."""

    prompt: str
    """The prompt's text."""
    prompt_id: str
    """The prompt's id, by which samples of other runs can be compared with this one."""
    prompt_index: Index
    member: Index
    seed: Index
    artifact: str
    """Artifact path under the run, as it was PUT; its ending says whether it is a picture or a clip."""
    poster: str = ""
    """Artifact path of the picture that stands for a clip until it plays; empty for pictures."""
    rewards: dict[str, float]
    missing: dict[str, str] = {}
    """Why a reward gave no score, by its key."""
    reward: float | None
    """The weighted sum; `None` for a picture asked for whose prompt a trained reward does not understand."""
    advantage: float | None = None
    staleness: Index = 0
    lane: str = ""


class SamplesEvent(Event):
    type: Literal["samples"] = "samples"
    purpose: Literal["train", "evaluate", "request"]
    batch: Index
    policy_version: Index
    samples: tuple[SampleInfo, ...]


class EvaluationEvent(Event):
    """Held-out means after `batch` complete batches; keys are `reward` (weighted) and each reward's name."""

    type: Literal["evaluation"] = "evaluation"
    batch: Index
    policy_version: Index
    num_samples: Count
    values: dict[str, float]


class StalenessEvent(Event):
    """Samples of a batch by staleness, as trained."""

    type: Literal["staleness"] = "staleness"
    batch: Index
    counts: dict[int, int]


class PublishEvent(Event):
    """A policy version, offered by the trainer and read back from every rollout lane."""

    type: Literal["publish"] = "publish"
    policy_version: Index
    num_bytes: Index
    num_tensors: Index
    sha256: str
    seconds: float


class AdapterFile(Contract):
    """One file of a policy version that users download."""

    path: Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*(/\w[\w.-]*)*$", max_length=200)]
    """Relative to the version's folder: `pytorch_lora_weights.safetensors`, `transformer/config.json`."""
    sha256: str
    num_bytes: Index


def listing_sha256(files: Iterable[AdapterFile]) -> str:
    """One checksum for several files: sha256 of what `sha256sum` prints for them, a line a file, in order of paths."""
    lines = (f"{file.sha256}  {file.path}\n" for file in sorted(files, key=attrgetter("path")))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class AdapterEvent(Event):
    """A policy version in diffusers format that users download: one LoRA file, or a folder of the whole transformer."""

    type: Literal["adapter"] = "adapter"
    batch: Index
    policy_version: Index
    artifact: str
    """Artifact path of the LoRA file; of several files, the folder that they lie in."""
    sha256: str
    """Of the LoRA file; of several files, their `listing_sha256`."""
    num_bytes: Index
    """Of all files together."""
    final: bool
    files: Annotated[tuple[AdapterFile, ...], Field(min_length=1)]
    """Each with its own artifact, `<folder>/<path>`. One is a LoRA, several are weights in shards beside config and
    index."""

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
            raise ValueError(f"`files` of one must name the file that `artifact` is, got {paths[0]}, {self.artifact}")
        expected = self.files[0].sha256 if is_one else listing_sha256(self.files)
        if self.sha256 != expected:
            raise ValueError(f"`sha256` must be that of `files`, {expected}, got {self.sha256}")
        return self


class CheckpointEvent(Event):
    """A resumable checkpoint, on the checkpoint store (not uploaded to the web)."""

    type: Literal["checkpoint"] = "checkpoint"
    batch: Index
    policy_version: Index
    optimizer_step: Index
    uri: str
    num_bytes: Index


class GateEvent(Event):
    type: Literal["gate"] = "gate"
    gate: Literal["replay"]
    batch: Index
    passed: bool
    values: dict[str, float]


class QueueEvent(Event):
    """Depths of the queues at one instant: fragments to generate, to score, groups ready to train."""

    type: Literal["queues"] = "queues"
    batch: Index
    depths: dict[str, int]


class LendEvent(Event):
    """Idle trainer lanes lend their hands to generation: one decision, told when it is made and when it is settled."""

    type: Literal["lend"] = "lend"
    decision: Count
    """Counts the run's decisions: the settled one repeats the number of the one made."""
    batch: Index
    lanes: tuple[str, ...]
    num_fragments: Count
    """Fragments that each lane may generate before it is asked again."""
    predicted_gain_seconds: float | None = None
    """By which the batches in view were predicted to end sooner; empty where nothing was predicted."""
    realised_gain_seconds: float | None = None
    """Predicted end without lending − actual end; given once those batches have ended."""


class WorkCost(Contract):
    """What one kind of work costs a lane: seconds = `per_call` + units × `per_unit`."""

    lane: str
    """A lane, or `gang` for the trainer lanes together."""
    kind: Name
    """As `worker.scheduling.core.costs` names kinds and their units."""
    per_call: Annotated[float, Field(ge=0)]
    per_unit: Annotated[float, Field(ge=0)]
    observed_units: tuple[Count, Count] | None = None
    """The fewest and the most units of one call that this was observed with: where both are the same, only the seconds
    of so many units are known, not how they are made up. Empty: assumed, not observed."""


class CostsEvent(Event):
    """What work costs on this run's lanes, as learnt from `batch` complete batches; a later event replaces it."""

    type: Literal["costs"] = "costs"
    batch: Index
    costs: tuple[WorkCost, ...]


class LogEvent(Event):
    type: Literal["log"] = "log"
    level: Literal["debug", "info", "warning", "error"]
    source: str
    """Lane id, or `driver`."""
    message: str


class CommandDoneEvent(Event):
    """The answer to a `RunCommand`."""

    type: Literal["command_done"] = "command_done"
    command_id: str
    accepted: bool
    detail: str = ""


RunEvent = Annotated[
    PhaseEvent
    | LanesEvent
    | StateEvent
    | ResumedEvent
    | MetricsEvent
    | SpansEvent
    | SamplesEvent
    | EvaluationEvent
    | StalenessEvent
    | PublishEvent
    | AdapterEvent
    | CheckpointEvent
    | GateEvent
    | QueueEvent
    | LendEvent
    | CostsEvent
    | LogEvent
    | CommandDoneEvent,
    Field(discriminator="type"),
]

run_event_adapter: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
