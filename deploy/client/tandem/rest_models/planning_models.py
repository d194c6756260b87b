"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, RootModel

from tandem.tolerant_model import Model


class CarriedSetting(Model):
    path: str
    """The setting of the spec."""
    value: Any
    source: str
    """The settings that it was made of."""


class ForecastTimes(Model):
    earliest: AwareDatetime
    likely: AwareDatetime
    latest: AwareDatetime


class LeftOutSetting(Model):
    source: str
    """The setting that was read."""
    value: Any
    why: str


class MovedInQueue(Model):
    words: str
    """Such as `moved to the front`."""
    by: str
    reason: str
    at: AwareDatetime


class RunLane(Model):
    """A lane that the run holds now."""

    lane: str
    """Its id within the run."""
    role: Literal["rollout", "trainer", "reward"] | str
    node: str
    device: str


class RunsAhead(Model):
    num_runs: int
    num_runs_of_others: int
    """Those of projects that are not yours."""
    num_other_projects: int
    lanes: dict[str, int]
    """Lanes that all of them want, by kind."""


class SplitPoint(Model):
    """The throughput of one mode at one number of trainer lanes."""

    num_trainer: int
    samples_per_second: float
    is_simulated: bool
    """
    Whether it was simulated; otherwise `samples_per_second` is an upper limit, or in pools too large to simulate an
    estimate.
    """


class TrainerChangeSeconds(Model):
    """What it took to replace the trainer gang, in seconds of the driver's clock; training stood still meanwhile."""

    checkpoint: float
    """From the end of the batch until its checkpoint was written and all lanes concerned were free."""
    start: float
    """From then until the new processes had loaded the model."""
    restore: float
    """Reading the checkpoint."""


class ObservedUnits(RootModel[list[Any]]):
    root: Annotated[list[Any], Field(min_length=2)] = None
    """
    The fewest and the most units of one call that were measured. If both are equal, only the sum for that size is
    known, not how it divides into `per_call` and `per_unit`. Empty: the cost is an estimate.
    """


class WorkCost(Model):
    """The cost of one kind of work on a lane: seconds = `per_call` + units × `per_unit`."""

    lane: str
    """A lane's id, or `gang` for all trainer lanes together; of a plan or of earlier runs, a kind of device."""
    kind: str
    """The kind of work, one of those that `worker.scheduling.core.costs` defines with their units."""
    per_call: float
    """Seconds of a call, whatever its size."""
    per_unit: float
    """Seconds of each unit of a call."""
    observed_units: ObservedUnits | None
    """
    The fewest and the most units of one call that were measured. If both are equal, only the sum for that size is
    known, not how it divides into `per_call` and `per_unit`. Empty: the cost is an estimate.
    """
    relative_error: float | None
    """The standard error of the measured seconds of a unit ÷ their mean; empty where too few were measured to tell."""
    slowdown: float
    """How many times as long as at first the lane takes, where it turned slow while it was measured."""


class FreeLanes(Model):
    """Free lanes of the pool that could join the run in a role."""

    role: Literal["rollout", "trainer", "reward"] | str
    device: str
    """Their accelerator, or `cpu`."""
    number: int


class ImportedSpec(Model):
    kind: Literal["flow_grpo", "diffusers"] | str
    """As what the text was read."""
    functions: list[str]
    """The configurations of flow_grpo's file."""
    spec: dict[str, Any]
    """The spec's document, without prompts; of diffusers, without rewards too."""
    yaml: str
    """The same as YAML; empty where there is none."""
    carried: list[CarriedSetting]
    left_out: list[LeftOutSetting]


class LaneProgress(Model):
    """How far one lane of a resize is."""

    lane: str
    """The lane's id."""
    role: Literal["rollout", "trainer", "reward"] | str | None
    """Its role once the resize is done; null for a lane that leaves."""
    step: Literal["waiting", "starting", "leaving", "joined", "kept", "released", "given_up"] | str
    """How far it is."""
    detail: str
    """Why it could not be started, in one sentence."""
    num_dropped: int
    """Fragments that it had under way when its seconds were over, and that others do again."""


class PipelineSpec(Model):
    """
    How generation, scoring and training overlap on the lanes. At staleness 0 no switch here changes the result, only
    the time that it takes; `max_staleness: 1`, `stale_clip` and `importance_cap` change what is trained on.
    """

    placement: Literal["colocated", "disaggregated", "auto"] | str
    """
    Which lanes do what. `colocated`: every lane generates, then trains; needs no balance and is the baseline.
    `disaggregated`: rollout lanes and trainer lanes work at the same time, faster where both are kept busy. `auto`: the
    planner takes whichever is predicted to be fastest on these lanes, with its own split, fragment size and switches,
    and again while the run works, by what it has measured.
    """
    gap: bool
    """
    Train on groups as soon as they are complete and scored, while other groups of the batch are still generated
    (generation-axis pipeline). On is usual: off makes the trainer lanes wait for the whole batch. Colocated lanes
    generate first: each trains from when no fragment is left for it, or sooner if it is better at training than
    others, while these end theirs and rewards come in. It has no effect with `advantage_std: batch`, nor colocated in
    ZeRO 2 and 3.
    """
    tsp: bool
    """
    Share out (trajectory, denoising step) pairs over the trainer lanes one by one (time-step parallelism); off, all
    pairs of a trajectory go to one lane. On is usual: lanes wait less for each other, the more so with few trajectories
    for each lane.
    """
    tag: Literal["off", "greedy", "search"] | str
    """
    Whether idle trainer lanes are lent to generation (trainer-assisted generation). `greedy` lends whenever
    fragments wait that rollout lanes would not all end before; `search` only where the batch is predicted to end
    sooner, switching costs included. Use `search` where trainer lanes show long bubbles; lending coarse fragments
    greedily can be slower than `off` (UniRL measured 0.68× where lanes were lent whenever they idled).
    """
    max_staleness: Literal[0, 1]
    """
    Policy versions by which samples may be older than the trained weights. 0 is strictly on-policy. 1 lets rollout
    lanes begin the next batch with the version before, so that they do not wait for training; a trajectory never mixes
    versions. The published gain is 1.36× to 1.44× (UniRL, Wan2.1), with slightly more clipping.
    """
    stale_clip: Literal["proximal", "behaviour"] | str
    """
    Which policy the ratio of stale samples is clipped around. `proximal`: the newest weights before training on the
    batch, with each sample weighted by how much likelier they make it than the older weights that generated it
    (decoupled PPO, arXiv 2110.00641). `behaviour`: those older weights; a small clip range then silences a third or
    more of the stale samples before training on them begins.
    """
    importance_cap: float | None
    """
    Upper bound on the weight of stale samples that `stale_clip: proximal` gives them (truncated importance
    sampling). Empty: 2. Likelihoods are means over all latent dimensions, so weights are close to 1 and the bound is
    rarely reached; lower it towards 1 when single samples dominate the update.
    """
    publishing: Literal["store", "direct"] | str
    """
    How rollout lanes get each new policy version. `store` is usual: a LoRA passes Ray's object store in a fraction
    of a second. `direct` broadcasts from the trainer lanes to the memory of the rollout lanes, over NCCL between GPUs,
    while those still generate; it is for all weights of a large model, and needs room for a second copy of them on
    each rollout lane. Lanes that a broadcast does not reach, and lent trainer lanes, fetch the copy in the store.
    """
    deterministic: bool
    """
    Accumulate gradients in the order of prompts, never of arrival, so that one trainer rank reaches bitwise the same
    weights in every run with these settings. Trainer lanes wait for the next in order, so it costs time. Turn it on to
    reproduce a result or to compare two changes exactly.
    """


class PlanChoice(Model):
    """The best choice of one mode, with the planner's predictions for it."""

    pipeline: PipelineSpec
    """The `pipeline` section of the spec that an attempt would use."""
    num_rollout: int
    num_trainer: int
    fragment_size: int
    samples_per_second: float
    batch_seconds: float
    is_simulated: bool
    """Whether the throughput was simulated; otherwise, in pools or batches too large for that, it is an estimate."""
    bound_share: float
    """Share of the throughput that no schedule with at most the staleness asked for exceeds on these lanes."""
    mean_staleness: float | None
    """Mean staleness of the simulated samples; null where nothing was simulated."""
    memory_bytes: dict[str, float]
    """Memory of the lane with the highest peak, by what the lane does."""


class PlannedScoring(Model):
    """Where rewards are computed."""

    rewards_on: Literal["auto", "cpu", "shared_gpu", "own_gpu"] | str
    """As in `lanes.rewards_on`, decided."""
    reason: str
    """Why the planner chose it, a sentence; empty where the user did."""
    card_bytes: float
    """Memory that a reward lane takes of the card that it shares; `memory_bytes` counts it. 0 where it shares none."""


class QueueBlocker(Model):
    kind: (
        Literal[
            "quota",
            "budget",
            "pool_too_small",
            "out_of_service",
            "lanes_held",
            "runs_ahead",
            "starting",
        ]
        | str
    )
    lane_kind: str
    """Kind of lane that it is about; empty where it is about no kind."""
    missing: int
    """Lanes of that kind that are missing."""
    text: str


class QueuedRun(Model):
    """A run that waits for lanes."""

    pool: str
    position: int | None
    """Runs of its pool that are served before it; null for one that its project's limit stops."""
    run_id: UUID | None
    """Null for a run of a project that is not yours."""
    run_name: str
    project_id: UUID | None
    project_name: str
    priority: Literal["high", "normal", "low"] | str
    lanes: dict[str, int]
    """Lanes that it wants, by kind."""
    since: AwareDatetime
    why: str
    """What it waits for, in one sentence."""
    starts: ForecastTimes | None
    """When it is expected to start, if nobody else joins the queue and its order stays; null if unknown."""
    duration_basis: Literal["measured", "history", "plan", "stop_limit", "unknown"] | str
    """What is known of how long it is going to hold its lanes."""
    blockers: list[QueueBlocker]
    """What keeps it from starting."""
    ahead: RunsAhead
    moved: MovedInQueue | None
    """What an admin did to its place; null where nobody did."""
    may_change: bool
    """Whether you may change its priority and its lanes."""


class RecordedResize(Model):
    """A change of the run's lanes while it worked."""

    id: str
    cause: Literal["user", "plan", "drain", "borrow", "reclaim", "idle"] | str
    requested_by: str | None
    """Name of the user; null where Tandem decided itself, and for an account that was deleted."""
    state: Literal["requested", "accepted", "done", "failed"] | str
    reason: str
    """Why it failed, in one sentence."""
    lanes: list[LaneProgress]
    trainer_seconds: TrainerChangeSeconds | None
    created_at: AwareDatetime
    ended_at: AwareDatetime | None


class RunSize(Model):
    """The lanes of a run, those that could join it, and its resizes."""

    lanes: list[RunLane]
    roles: list[Literal["rollout", "trainer", "reward"] | str]
    """Roles that lanes of the run can have: a colocated run, planned so or asked for so, has no rollout lanes."""
    free: list[FreeLanes]
    """Free lanes by such a role and by device. One lane may be counted for several roles."""
    trainer_change_seconds: float | None
    """
    What replacing the trainer gang is expected to take, from what the run has measured: checkpoint, start and
    restore. Null until the run has measured one of them.
    """
    is_trainer_change_measured: bool
    """Whether all three parts are measured; otherwise the true seconds are more."""
    resizes: list[RecordedResize]
    """The newest first."""


class PlanPreview(Model):
    """A plan made before there is a run."""

    mode: Literal["colocated", "disaggregated", "gap", "tsp", "tag", "stale"] | str
    trainers: list[int]
    by_mode: dict[str, PlanChoice]
    curves: dict[str, list[SplitPoint]]
    bound_samples_per_second: float
    devices: list[str]
    scoring: PlannedScoring
    costs: Literal["measured", "own", "profile", "corrected"] | str
    stand_in_profile: str | None
    num_batches_measured: int
    fragment_sizes_measured: list[int]
    expected: list[WorkCost]
    fits_pool: bool
    """Whether the pool has as many lanes, free or not."""
    card_bytes: dict[str, float]
    """Memory of each device that the planner knows, against which it judges `memory_bytes`."""
    price_per_hour: float | None
    """
    What the run's lanes cost in an hour, each at the mean price of its device's lanes in the pool; null where none
    has a price.
    """
    num_unpriced_lanes: int
    """Number of the run's lanes on GPUs without a price, which `price_per_hour` leaves out."""
