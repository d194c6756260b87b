"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from tandem.tolerant_model import Model


class BatchAlgebra(Model):
    """Every derived count of a run, printed at its start and stored with it."""

    num_groups: int
    """Groups in a batch."""
    group_size: int
    """Trajectories in a group."""
    num_trajectories: int
    """Trajectories in a batch."""
    fragment_size: int
    """Trajectories in a fragment."""
    num_fragments: int
    """Fragments in a batch."""
    num_trajectories_per_call: int
    """Most trajectories that a lane generates in one call of several fragments; a single fragment may have more."""
    num_minibatches: int
    """Mini-batches in a batch."""
    num_epochs: int
    """Passes through a batch."""
    num_groups_per_minibatch: int
    """Groups in a mini-batch."""
    num_trained_denoising_steps: int
    """
    Denoising steps at which each trajectory is trained on; noise levels, for an algorithm that adds noise to
    finished samples.
    """
    num_trained_members: int | None
    """Units of training that a group makes at each of those steps or levels. Empty: one for each trajectory."""
    num_pairs_per_optimizer_step: int
    """(trajectory, denoising step) pairs that one optimizer step is computed from."""
    micro_batch_size: int
    """Most pairs in one forward and backward pass."""
    num_denoising_steps_per_micro_batch: int
    """Denoising steps of the same trajectories in one micro-batch; more than 1 where a group alone does not fill it."""
    num_micro_batches_per_optimizer_step: int
    """Micro-batches of all trainer lanes in one optimizer step."""
    num_optimizer_steps_per_batch: int
    """Optimizer steps in a batch; fewer are taken where mini-batches without spread are skipped."""
    filter_groups: bool
    """Whether groups without spread are not trained on."""
    max_resamples: int
    """Most draws of a group after its first, each because the one before has no spread."""


class Headline(Model):
    """
    Held-out evaluation at the run's beginning and now; values that were not evaluated yet are absent. A run begins
    with the untrained policy, a fork with that of its checkpoint.
    """

    reward_before: float | None = None
    """Weighted held-out reward at the beginning."""
    reward_after: float | None = None
    """Weighted held-out reward of the newest evaluation."""
    before: dict[str, float] | None = None
    """All held-out means at the beginning, by reward."""
    after: dict[str, float] | None = None
    """All held-out means of the newest evaluation, by reward."""
    batch_after: int | None = None
    """Complete batches before the newest evaluation."""
    num_samples: int | None = None
    """Samples of the first evaluation."""


class RunProject(Model):
    id: str
    name: str
    role: Literal["viewer", "editor", "owner"] | str | None
    """The reader's role in the project; null for one who is no member."""


class RunSweep(Model):
    """The sweep that made a run, and the run's place in it."""

    id: str
    name: str
    point: int
    """Number of the point, from 1."""
    seed: int


class Validation(Model):
    ok: bool
    errors: dict[str, list[str]]
    """Messages by dotted field path."""
    lines: dict[str, int]
    """Lines of the YAML that was sent on which the errors' fields stand."""
    document: dict[str, Any] | None
    """What was refused, as it was read; null for a valid spec, and for YAML that is no mapping."""
    algebra: BatchAlgebra | None
    algebra_text: str | None
    warnings: list[str]
    """Why a valid spec may still fail, such as too little memory."""
    spec: dict[str, Any] | None
    """The spec with every field written out."""
    yaml: str | None


class Failure(Model):
    """Why a run failed, and what to try; `runs.attempts.failure` finds it."""

    reason: str
    """One sentence with the field, the value and what to do."""
    phase: (
        Literal[""]
        | Literal[
            "bootstrap",
            "place_lanes",
            "load_model",
            "restore",
            "evaluate",
            "train",
            "checkpoint",
            "export",
            "finish",
        ]
        | str
    )
    """What the driver was doing when it failed; empty if unknown."""
    details: str
    """The end of the traceback, or of what the driver reported."""
    log_tail: str
    """The last log lines of the driver's job."""
    suggestions: list[str]


class ListedRun(Model):
    """A line of the runs list, as one reader may see it."""

    id: str
    name: str
    state: (
        Literal[
            "queued",
            "starting",
            "running",
            "paused",
            "stopping",
            "completed",
            "stopped",
            "cancelled",
            "failed",
        ]
        | str
    )
    state_changed_at: AwareDatetime
    phase: (
        Literal[""]
        | Literal[
            "bootstrap",
            "place_lanes",
            "load_model",
            "restore",
            "evaluate",
            "train",
            "checkpoint",
            "export",
            "finish",
        ]
        | str
    )
    attempt: int
    num_batches: int
    num_batches_done: int
    policy_version: int
    headline: Headline
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    tags: list[str]
    archived_at: AwareDatetime | None
    project: RunProject
    created_by: str | None
    """Name of the user; null for an account that was deleted."""
    legal_actions: list[
        Literal[
            "pause",
            "resume",
            "stop",
            "cancel",
            "sample_now",
            "checkpoint_now",
            "resize",
        ]
        | str
    ]
    waiting: str
    """What a queued run waits for, in one sentence; empty for any other."""
    warning: str
    """What is amiss with a run that works, in one sentence: GPUs that do nothing. Empty for nothing."""
    sweep: RunSweep | None
    """The sweep that made the run; null for any other, and once the sweep was deleted."""


class Run(Model):
    """A run in full, as one reader may see it."""

    id: str
    name: str
    state: (
        Literal[
            "queued",
            "starting",
            "running",
            "paused",
            "stopping",
            "completed",
            "stopped",
            "cancelled",
            "failed",
        ]
        | str
    )
    state_changed_at: AwareDatetime
    phase: (
        Literal[""]
        | Literal[
            "bootstrap",
            "place_lanes",
            "load_model",
            "restore",
            "evaluate",
            "train",
            "checkpoint",
            "export",
            "finish",
        ]
        | str
    )
    attempt: int
    num_batches: int
    num_batches_done: int
    policy_version: int
    headline: Headline
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    tags: list[str]
    archived_at: AwareDatetime | None
    project: RunProject
    created_by: str | None
    legal_actions: list[
        Literal[
            "pause",
            "resume",
            "stop",
            "cancel",
            "sample_now",
            "checkpoint_now",
            "resize",
        ]
        | str
    ]
    waiting: str
    warning: str
    sweep: RunSweep | None
    max_attempts: int
    spec: dict[str, Any]
    algebra: BatchAlgebra
    algebra_text: str
    num_prompts: int
    last_heartbeat_at: AwareDatetime | None
    failure: Failure | None
    notes: str
    parent: str | None
    """Id of the run that this one was duplicated or forked from."""
    forked_batch: int | None
    """Complete batches of the parent's checkpoint that the run began from; null for one from the base model."""
    forked_from: str
    """Address of that checkpoint; empty for a run from the base model."""
    resume_batch: int | None
    """Complete batches of the checkpoint from which the next attempt resumes; null without one."""
    ending: Literal["stop", "cancel"] | str | None
    """The end that a user requested, `stop` or `cancel`; null before."""
