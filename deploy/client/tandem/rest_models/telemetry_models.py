"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import AnyUrl, AwareDatetime

from tandem.tolerant_model import Model


class DownloadableFile(Model):
    path: str
    """Path within the version's folder."""
    num_bytes: int
    sha256: str
    url: str


class GroupOfBatch(Model):
    """What became of one group of a batch."""

    group: int
    """The group's index in its batch, from 0."""
    prompt_index: int
    """The prompt's index among the run's."""
    mean_reward: float | None
    """Mean over all members that have a reward; null where none has."""
    reward_std: float
    """Standard deviation over the same, of the population."""
    has_spread: bool
    """Whether some advantage of the group differs from 0: without that it teaches nothing."""
    num_dropped_draws: int
    """Draws before this one that were dropped for want of spread."""
    num_missing: int
    """Samples that lack a trained reward."""
    num_repeated_fragments: int
    """Fragments that were generated once more, because their lane was lost."""


class SavedCheckpoint(Model):
    """A resumable checkpoint."""

    id: int
    attempt: int
    batch: int
    """Complete batches."""
    policy_version: int
    optimizer_step: int
    uri: str
    num_bytes: int
    created_at: float
    """Unix seconds."""
    is_kept: bool | None
    """
    Whether its files are still there: a driver keeps the newest few, and those that runs were forked from. Null
    where the checkpoint store does not answer.
    """
    training_reward: float | None
    """Mean training reward of the batch that it was written after."""
    held_out_reward: float | None
    """Held-out reward of its weights; null where they were not evaluated."""


class Series(Model):
    """One curve as columns of one length."""

    batch: list[int]
    optimizer_step: list[int]
    at: list[float]
    """Unix times of the points, in seconds."""
    value: list[float]
    min: list[float]
    """Smallest value behind the point; the value itself for an exact point."""
    max: list[float]


class TimelineSpan(Model):
    """
    A span of the timeline: one that its lane reported, or several short neighbours drawn as one.

    In merged ones, `kind` and `cause` are those that took most of the time, counts are sums, and all else is empty.
    """

    lane: str
    rank: int | None
    """The lane's rank in the trainer gang; null for rollout and reward lanes."""
    kind: (
        Literal[
            "generate",
            "lent_generate",
            "decode",
            "encode",
            "score",
            "train",
            "publish",
            "pull",
            "switch",
            "evaluate",
            "checkpoint",
            "pause",
            "idle",
        ]
        | str
    )
    start: float
    end: float
    cause: (
        Literal[
            "dispatch",
            "no_fragment_ready",
            "head_of_line",
            "group_incomplete",
            "reward_pending",
            "batch_barrier",
            "gang_barrier",
            "back_pressure",
            "publish_wait",
            "start_up",
            "drain",
            "failure",
            "resize",
        ]
        | str
        | None
    )
    """Why the lane had nothing to do; given exactly for idle spans."""
    batch: int | None
    group: int | None
    fragment: int | None
    """Index of the fragment within its group."""
    policy_version: int | None
    num_samples: int
    """Number of trajectories that were generated or scored; 0 for training, which is divided by micro-batches."""
    num_units: int
    """
    Number of units that this lane did, as its costs count them: trajectories generated, images or clips decoded or
    scored, passes of training (micro-batches, and passes of weight 0 beside them); 0 for work whose cost has no
    unit.
    """
    for_run: UUID | None
    """Id of the run that the lane worked for; null while it idled or paused, and in simulations."""
    num_spans: int
    """Number of spans that this one stands for; with 1 it is as its lane reported it."""


class Adapter(Model):
    id: int
    attempt: int
    batch: int
    policy_version: int
    tuning: Literal["lora", "full"] | str
    """`lora`: one file; `full`: the whole transformer, in several."""
    final: bool
    num_bytes: int
    """Of all files together."""
    sha256: str
    files: list[DownloadableFile]
    folder: str
    """Name of the folder that the archive unpacks to."""
    url: str
    """The LoRA file; of several files, all of them as one tar."""
    archive_url: str
    """All files as one uncompressed tar."""
    created_at: float
    """Unix seconds."""


class AdapterPage(Model):
    """One page: AdapterBody"""

    next: AnyUrl | None
    results: list[Adapter]


class Curves(Model):
    series: dict[str, Series]
    """Curves by the metric's name."""
    keys: list[str]
    """Every metric that the run has reported, those that were not asked for included."""
    stream_seq: int
    """Number of the newest item read; the socket sends what follows."""


class LogEntry(Model):
    """A log record, or an event of the run in a sentence."""

    stream_seq: int
    """The number of what it tells, in the run's stream."""
    at: float
    """Unix time in seconds."""
    attempt: int
    type: str
    """`log` for a record of the engine's log; else the type of the event."""
    level: Literal["debug", "info", "warning", "error"] | str
    source: str
    """A lane, `driver` or `web`."""
    text: str


class MirroredRun(Model):
    """A run in one mirror."""

    mirror: UUID
    name: str
    kind: Literal["wandb", "wandb_offline", "mlflow", "tensorboard"] | str
    is_active: bool
    state: Literal["following", "done", "given_up"] | str
    url: str
    """The run's page there; empty for folders, and before anything is there."""
    folder: str
    """Below `TANDEM_VAR`; empty for servers."""
    batch: int
    """Everything up to this batch is there."""
    num_batches_behind: int
    num_pictures_left_out: int
    """Not stored in time, or not taken there."""
    num_failures: int
    """Failed tries since the last that was accepted."""
    error: str
    """Of the last try; empty where it was accepted."""
    next_at: AwareDatetime | None
    """When it is written next."""
    begun_at: AwareDatetime | None
    """Since when it is being written; null between two."""
    accepted_at: AwareDatetime | None


class Sample(Model):
    purpose: Literal["train", "evaluate", "request"] | str
    batch: int
    attempt: int
    policy_version: int
    prompt: str
    prompt_id: str
    prompt_index: int
    member: int
    seed: str
    """A number of up to 64 bits, written as text since JSON numbers have fewer."""
    reward: float | None
    rewards: dict[str, float]
    missing: dict[str, str]
    """Why a reward gave no score, by its key."""
    advantage: float | None
    staleness: int
    lane: str
    media_type: str
    """`image/png`, or `video/webm` for clips."""
    image_url: str
    """The picture, or a clip's first frame."""
    clip_url: str | None
    """The clip; null for a picture."""


class Samples(Model):
    batches: list[int]
    """Batches that have pictures."""
    groups: list[GroupOfBatch]
    """The groups of a training batch, whole: its pictures may be of some members only."""
    results: list[Sample]
