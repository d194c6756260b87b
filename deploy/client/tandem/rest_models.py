"""The answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AnyUrl, AwareDatetime, Field, RootModel

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


class BestPoint(Model):
    """The point with the best value of the objective now."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    value: float
    """Mean of its runs' newest values."""
    run: str
    """Id of the best of its runs."""


class BestSoFar(Model):
    """The best point became better, or another one did."""

    at: float
    """Unix time in seconds."""
    gpu_hours: float
    """What the sweep had cost by then."""
    lane_hours: float
    """The same for lanes of any kind, CPU lanes included."""
    value: float
    """Mean of the objective over the point's seeds, after equally many batches."""
    point: int


class CarriedSetting(Model):
    path: str
    """The setting of the spec."""
    value: Any
    source: str
    """The settings that it was made of."""


class DownloadableFile(Model):
    path: str
    """Path within the version's folder."""
    num_bytes: int
    sha256: str
    url: str


class ForecastTimes(Model):
    earliest: AwareDatetime
    likely: AwareDatetime
    latest: AwareDatetime


class GpuFaults(Model):
    """What the driver has counted against a GPU since it was loaded."""

    xids: dict[str, int]
    """By Xid code: how often it was seen since the agent started."""
    ecc_corrected: int | None
    ecc_uncorrected: int | None
    remapped_rows: int | None
    """Rows of memory replaced by spares after uncorrectable errors."""
    retired_pages: int | None
    """Pages of memory taken out of use after errors, on cards without spare rows: NVIDIA's before Ampere, and AMD's."""
    remap_pending: bool
    """Rows wait for a reset to be replaced, or pages to be taken out of use."""
    remap_failed: bool
    """No spare row is left, or more pages are bad than the vendor allows: the card must be replaced."""
    throttle_reasons: list[str]
    """Why its clocks are below what they could be, now; idling is no reason."""
    pcie_replays: int | None
    nvlink_errors: int | None
    """Errors of checksums, replays and recoveries of all its NVLink links."""
    recovery_action: str
    """What the driver itself says that the card needs, such as `reset GPU`; empty for nothing."""
    is_lost: bool
    """The driver lists the card no more, fails to reach it, or cannot use it before a reset."""


class GpuLive(Model):
    """What a GPU does now."""

    utilisation: float | None
    """Share of the last sampling period in which a kernel ran."""
    memory_used_bytes: int | None
    temperature: float | None
    memory_temperature: float | None
    power: float | None
    power_limit: float | None
    energy_joules: float | None
    """Since the driver was loaded."""
    sm_clock: float | None
    memory_clock: float | None
    num_processes: int | None
    """Processes that hold memory on it."""
    nvlink_bytes_per_second: float | None
    """Sent and received over all its NVLink links, since the reading before."""


class GpuTopology(Model):
    """How a GPU is linked to its node and to other GPUs."""

    numa_node: int | None
    """The NUMA node of the host's memory that is nearest."""
    nvlink_peers: list[str]
    """UUIDs of the GPUs that it reaches over NVLink or xGMI, directly or through a switch."""
    num_nvlinks_up: int | None
    """Active NVLink links; fewer than on its peers means a link that is down."""


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


class LeftOutSetting(Model):
    source: str
    """The setting that was read."""
    value: Any
    why: str


class Me(Model):
    id: int
    username: str
    is_pool_admin: bool
    """Whether the user may manage nodes, GPUs, pools and shares."""
    is_superuser: bool
    """Whether the user administers the installation."""


class MovedInQueue(Model):
    words: str
    """Such as `moved to the front`."""
    by: str
    reason: str
    at: AwareDatetime


class OperationProgress(Model):
    """How much of an operation is done."""

    done: int
    total: int
    unit: str
    """What is counted, such as `pictures`."""


class OperationTarget(Model):
    """What an operation is about."""

    type: Literal['run', 'sweep', 'gpu', 'node'] | str
    id: str
    name: str
    link: str
    """Its address below this server."""


class Prompt1(Model):
    """A prompt with its negative prompt, metadata and pictures. Text alone may be written in its place."""

    text: str
    """What the model is asked to generate."""
    negative: str | None = None
    """What it is to avoid, for families with a negative prompt. Null: `sampling.negative_prompt` of the run."""
    metadata: Annotated[dict[str, Any] | None, Field(max_length=256)] = {}
    """
    Facts for rewards, as a JSON object: counts, objects and colours to check, a reference answer. Reward code of
    your own reads them; the model never sees them.
    """
    pictures: list[str] | None = []
    """Paths of pictures below TANDEM_MODEL_ROOTS that rewards may compare with. Remote scorers get their bytes."""
    id: str | None = ''
    """Name of the prompt, by which samples of different runs are compared. By default a digest of all the rest."""


class PromptSet(Model):
    id: UUID
    name: str
    project: UUID
    num_prompts: int
    prompts: list[str | Prompt1]
    created_at: AwareDatetime


class Reward(Model):
    """A scorer that a spec can name."""

    name: str
    """Value for `rewards.*.name` in a spec."""
    description: str
    """What it measures."""
    scores_images: bool
    scores_videos: bool
    """Clips as a whole, or by the mean over at most 8 evenly spaced frames."""
    looks_at: str
    """What it is given of a sample."""
    prompt: str
    """What it reads of the prompt; empty for nothing."""
    lowest: float | None
    """The least score; null for no bound."""
    highest: float | None
    """The greatest score."""
    usual: str
    """The range that scores are in, in words."""
    needs: str
    """What must be there for it."""
    gamed: str
    """How policies are known to exploit it."""
    source: str
    """A paper or a repository; empty for Tandem's own."""
    is_verdict: bool
    """1 for a right sample, 0 for a wrong one: its mean is a share."""
    is_differentiable: bool
    """Whether algorithms that follow its gradient may use it."""
    settings: dict[str, Any] | None
    """JSON schema of `rewards.*.settings`; null for a scorer that has none."""
    weights: dict[str, str | None]
    """Where its network is loaded from by default, by setting; null where the spec has to name it."""
    presets: list[str]
    """Names of the presets that use it."""


class RunLane(Model):
    """A lane that the run holds now."""

    lane: str
    """Its id within the run."""
    role: Literal['rollout', 'trainer', 'reward'] | str
    node: str
    device: str


class RunProject(Model):
    id: str
    name: str
    role: Literal['viewer', 'editor', 'owner'] | str | None
    """The reader's role in the project; null for one who is no member."""


class RunSweep(Model):
    """The sweep that made a run, and the run's place in it."""

    id: str
    name: str
    point: int
    """Number of the point, from 1."""
    seed: int


class Rung(Model):
    """What a point reported at a rung."""

    num_samples: int
    value: float
    """Mean of the objective over the point's seeds."""
    is_pruned: bool
    reason: str
    """Why it was pruned; empty where it went on."""
    at: AwareDatetime


class RunsAhead(Model):
    num_runs: int
    num_runs_of_others: int
    """Those of projects that are not yours."""
    num_other_projects: int
    lanes: dict[str, int]
    """Lanes that all of them want, by kind."""


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


class SplitPoint(Model):
    """The throughput of one mode at one number of trainer lanes."""

    num_trainer: int
    samples_per_second: float
    is_simulated: bool
    """
    Whether it was simulated; otherwise `samples_per_second` is an upper limit, or in pools too large to simulate an
    estimate.
    """


class Plan(Model):
    """The plan with every field written out."""


class SweepPreview(Model):
    """What a sweep would run."""

    plan: Plan
    """The plan with every field written out."""
    points: list[dict[str, Any]]
    """The settings of each point."""
    num_runs: int
    """Of all points with all seeds."""
    num_samples: int
    """Samples of all runs, if none is pruned."""
    num_invalid_draws: int
    invalid_draw: str
    """The first invalid draw, with why; empty for none."""
    rungs: list[int]
    """Samples at which the points with most samples are judged."""


class SweptRun(Model):
    """A point with one seed."""

    seed: int
    id: str | None
    """Null for a run that waits to be created, could not be, or was deleted since."""
    name: str
    state: (
        Literal[
            'queued',
            'starting',
            'running',
            'paused',
            'stopping',
            'completed',
            'stopped',
            'cancelled',
            'failed',
        ]
        | str
        | None
    )
    problem: str
    """Why no run could be created; empty otherwise."""
    value: float | None
    """The newest value of the objective; null before the first."""
    num_samples: int
    """Samples that it has trained on."""
    gpu_hours: float


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
            'generate',
            'lent_generate',
            'decode',
            'encode',
            'score',
            'train',
            'publish',
            'pull',
            'switch',
            'evaluate',
            'checkpoint',
            'pause',
            'idle',
        ]
        | str
    )
    start: float
    end: float
    cause: (
        Literal[
            'no_fragment_ready',
            'head_of_line',
            'group_incomplete',
            'reward_pending',
            'batch_barrier',
            'gang_barrier',
            'back_pressure',
            'publish_wait',
            'start_up',
            'drain',
            'failure',
            'resize',
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
    scored, micro-batches trained; 0 for work whose cost has no unit.
    """
    for_run: UUID | None
    """Id of the run that the lane worked for; null while it idled or paused, and in simulations."""
    num_spans: int
    """Number of spans that this one stands for; with 1 it is as its lane reported it."""


class TrainerChangeSeconds(Model):
    """What it took to replace the trainer gang, in seconds of the driver's clock; training stood still meanwhile."""

    checkpoint: float
    """From the end of the batch until its checkpoint was written and all lanes concerned were free."""
    start: float
    """From then until the new processes had loaded the model."""
    restore: float
    """Reading the checkpoint."""


class UsageRow(Model):
    """What one project, user, card, … used inside the window."""

    key: str
    """Id of what was summed over; empty where it was deleted."""
    name: str
    lane_hours: float
    """Hours of all lanes, CPU lanes too."""
    gpu_hours: float
    cost: Decimal | None
    """At the prices that the GPUs had when they were allocated; null where none had one."""
    num_runs: int
    unpriced_gpu_hours: float
    """GPU hours without a price, which the cost leaves out."""


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


class ObservedUnits(RootModel[list[Any]]):
    root: Annotated[list[Any], Field(min_length=2)] = None
    """
    The fewest and the most units of one call that were measured. If both are equal, only the sum for that size is
    known, not how it divides into `per_call` and `per_unit`. Empty: the cost is an estimate.
    """


class WorkCost(Model):
    """The cost of one kind of work on a lane: seconds = `per_call` + units × `per_unit`."""

    lane: str
    """A lane's id, or `gang` for all trainer lanes together."""
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


class Adapter(Model):
    id: int
    attempt: int
    batch: int
    policy_version: int
    tuning: Literal['lora', 'full'] | str
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


class CreatedToken(Model):
    id: str
    """The token's first characters."""
    name: str
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    """To the minute; null for one never used."""
    scopes: list[Literal['read', 'run', 'pool', 'admin'] | str]
    projects: list[UUID] | None
    """Ids of the projects that it is limited to; null for every project of its user."""
    pools: list[str]
    """Names of the pools that it is limited to; empty for every pool."""
    token: str
    """The token itself. It is shown this once; only its hash is kept."""


class Curves(Model):
    series: dict[str, Series]
    """Curves by the metric's name."""
    keys: list[str]
    """Every metric that the run has reported, those that were not asked for included."""
    stream_seq: int
    """Number of the newest item read; the socket sends what follows."""


class Failure(Model):
    """Why a run failed, and what to try; `runs.attempts.failure` finds it."""

    reason: str
    """One sentence with the field, the value and what to do."""
    phase: (
        Literal['']
        | Literal[
            'bootstrap',
            'place_lanes',
            'load_model',
            'restore',
            'evaluate',
            'train',
            'checkpoint',
            'export',
            'finish',
        ]
        | str
    )
    """What the driver was doing when it failed; empty if unknown."""
    details: str
    """The end of the traceback, or of what the driver reported."""
    log_tail: str
    """The last log lines of the driver's job."""
    suggestions: list[str]


class FreeLanes(Model):
    """Free lanes of the pool that could join the run in a role."""

    role: Literal['rollout', 'trainer', 'reward'] | str
    device: str
    """Their accelerator, or `cpu`."""
    number: int


class GpuIdentity(Model):
    """What a GPU is; changes only with its driver."""

    uuid: str
    """As its driver reports it; of a MIG slice, the slice's own."""
    index: int
    """Its index on the node, in the order of PCI addresses; MIG slices have that of their card."""
    vendor: Literal['nvidia', 'amd'] | str
    model: str
    """The product name, by which the planner finds its hardware profile."""
    architecture: str
    compute_capability: str
    """`major.minor`; of an AMD GPU the target, such as `gfx942`."""
    memory_bytes: int | None
    pci_address: str
    """`domain:bus:device.function` in lower case, as Linux writes it."""
    driver: str
    """Version of the kernel driver."""
    runtime: str
    """Newest version of CUDA or ROCm that the driver serves."""
    max_sm_clock: float | None
    """The highest clock of its cores, in megahertz; below it under load something holds the card back."""
    parent_uuid: str
    """Of a MIG slice: the card that it is part of."""


class GpuTestStep(Model):
    """One step of a test that has ended."""

    name: (
        Literal['device', 'matrix_product', 'memory_sweep', 'engine', 'all_reduce']
        | str
    )
    outcome: Literal['passed', 'failed', 'skipped'] | str
    seconds: float
    detail: str
    """What was measured, or what went wrong, as a sentence."""


class ImportedSpec(Model):
    kind: Literal['flow_grpo', 'diffusers'] | str
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
    role: Literal['rollout', 'trainer', 'reward'] | str | None
    """Its role once the resize is done; null for a lane that leaves."""
    step: (
        Literal[
            'waiting', 'starting', 'leaving', 'joined', 'kept', 'released', 'given_up'
        ]
        | str
    )
    """How far it is."""
    detail: str
    """Why it could not be started, in one sentence."""
    num_dropped: int
    """Fragments that it had under way when its seconds were over, and that others do again."""


class ListedPromptSet(Model):
    id: UUID
    name: str
    project: UUID
    num_prompts: int
    first_prompts: list[str | Prompt1]
    """At most three."""
    created_at: AwareDatetime


class ListedRun(Model):
    """A line of the runs list, as one reader may see it."""

    id: str
    name: str
    state: (
        Literal[
            'queued',
            'starting',
            'running',
            'paused',
            'stopping',
            'completed',
            'stopped',
            'cancelled',
            'failed',
        ]
        | str
    )
    state_changed_at: AwareDatetime
    phase: (
        Literal['']
        | Literal[
            'bootstrap',
            'place_lanes',
            'load_model',
            'restore',
            'evaluate',
            'train',
            'checkpoint',
            'export',
            'finish',
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
            'pause',
            'resume',
            'stop',
            'cancel',
            'sample_now',
            'checkpoint_now',
            'resize',
        ]
        | str
    ]
    waiting: str
    """What a queued run waits for, in one sentence; empty for any other."""
    warning: str
    """What is amiss with a run that works, in one sentence: GPUs that do nothing. Empty for nothing."""
    sweep: RunSweep | None
    """The sweep that made the run; null for any other, and once the sweep was deleted."""


class ListedSweep(Model):
    """A line of the list of sweeps, as one reader may see it."""

    num_points: int
    num_runs: int
    num_runs_ended: int
    num_runs_live: int
    id: str
    operation: str
    """Its operation: `GET /operations/{id}`."""
    name: str
    project: RunProject
    created_by: str | None
    """Name of the user; null for an account that was deleted."""
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    state: Literal['running', 'stopping', 'stopped', 'completed'] | str
    reason: str
    """Why it starts no more runs; empty while it does, and for one that ended by itself."""
    num_pruned: int
    best: BestPoint | None
    """Null before the first value."""
    gpu_hours: float
    """Of the lanes that its runs held; CPU lanes cost none."""
    budget_gpu_hours: float | None


class LogEntry(Model):
    """A log record, or an event of the run in a sentence."""

    stream_seq: int
    """The number of what it tells, in the run's stream."""
    at: float
    """Unix time in seconds."""
    attempt: int
    type: str
    """`log` for a record of the engine's log; else the type of the event."""
    level: Literal['debug', 'info', 'warning', 'error'] | str
    source: str
    """A lane, `driver` or `web`."""
    text: str


class MirroredRun(Model):
    """A run in one mirror."""

    mirror: UUID
    name: str
    kind: Literal['wandb', 'wandb_offline', 'mlflow', 'tensorboard'] | str
    is_active: bool
    state: Literal['following', 'done', 'given_up'] | str
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


class Operation(Model):
    """Long work that a request began."""

    id: str
    """`<kind>-<id of the row that holds it>`."""
    kind: Literal['preview', 'command', 'resize', 'sweep', 'gpu_test', 'drain'] | str
    action: str
    """What was asked for: the kind, or of a `command` which one."""
    state: Literal['waiting', 'running', 'succeeded', 'failed', 'cancelled'] | str
    detail: str
    """What it waits for, or what was said of it; empty for nothing."""
    problem: str
    """Why it failed; empty where it has not."""
    progress: OperationProgress | None
    """Null where nothing is counted."""
    target: OperationTarget
    project: str | None
    """Id of the project; null for work on the pool."""
    requested_by: str | None
    """Name of the user, or of the part of Tandem; null for an account that was deleted."""
    request_id: str
    """`X-Request-ID` of the request that began it, as the audit log has it; empty where it has none."""
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    """Null while nothing works on it, and where that is not noted."""
    ended_at: AwareDatetime | None
    result: str
    """Address of what comes of it, below this server."""
    can_cancel: bool
    """Whether you may cancel it now."""


class PipelineSpec(Model):
    """
    How generation, scoring and training overlap on the lanes. At staleness 0 no switch here changes the result, only
    the time that it takes; `max_staleness: 1`, `stale_clip` and `importance_cap` change what is trained on.
    """

    placement: Literal['colocated', 'disaggregated', 'auto'] | str
    """
    Which lanes do what. `colocated`: every lane generates, then every lane trains; needs no balance and is the
    baseline. `disaggregated`: rollout lanes and trainer lanes work at the same time, faster where both are kept busy.
    `auto`: the planner takes whichever is predicted to be fastest on these lanes, with its own split, fragment size and
    switches.
    """
    gap: bool
    """
    Train on groups as soon as they are complete and scored, while other groups of the batch are still generated
    (generation-axis pipeline). On is usual: off makes the trainer lanes wait for the whole batch. It has no effect with
    `advantage_std: batch`.
    """
    tsp: bool
    """
    Share out (trajectory, denoising step) pairs over the trainer lanes one by one (time-step parallelism); off, all
    pairs of a trajectory go to one lane. On is usual: lanes wait less for each other, the more so with few trajectories
    for each lane.
    """
    tag: Literal['off', 'greedy', 'search'] | str
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
    stale_clip: Literal['proximal', 'behaviour'] | str
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


class PlanPreview(Model):
    """A plan made before there is a run."""

    mode: Literal['colocated', 'disaggregated', 'gap', 'tsp', 'tag', 'stale'] | str
    trainers: list[int]
    by_mode: dict[str, PlanChoice]
    curves: dict[str, list[SplitPoint]]
    bound_samples_per_second: float
    devices: list[str]
    costs: Literal['measured', 'own', 'profile'] | str
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


class PoolLane(Model):
    """A lane of the pool, and the run that holds it if you may see that run."""

    state: (
        Literal[
            'available',
            'allocated',
            'cordoned',
            'draining',
            'maintenance',
            'awaiting_test',
            'faulty',
            'lost',
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    state_when_free: (
        Literal[
            'available',
            'allocated',
            'cordoned',
            'draining',
            'maintenance',
            'awaiting_test',
            'faulty',
            'lost',
        ]
        | str
    )
    """What it is once no run holds it."""
    id: int
    node: str
    pool: str
    """Name of the pool that it is in."""
    label: str
    kind: Literal['gpu', 'cpu'] | str
    device: str
    takes_work: bool
    """Whether it takes new work once it is free."""
    role: str
    """Its role in the run that holds it."""
    held_since: AwareDatetime | None
    run_id: UUID | None
    """Id of the run that holds it; also null for a run of another project."""
    run_name: str


class Project(Model):
    id: UUID
    name: str
    slug: str
    role: Literal['viewer', 'editor', 'owner'] | str
    """Your role in the project, as far as your token goes."""
    created_at: AwareDatetime


class QueueBlocker(Model):
    kind: (
        Literal[
            'quota',
            'budget',
            'pool_too_small',
            'out_of_service',
            'lanes_held',
            'runs_ahead',
            'starting',
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
    priority: Literal['high', 'normal', 'low'] | str
    lanes: dict[str, int]
    """Lanes that it wants, by kind."""
    since: AwareDatetime
    why: str
    """What it waits for, in one sentence."""
    starts: ForecastTimes | None
    """When it is expected to start, if nobody else joins the queue and its order stays; null if unknown."""
    duration_basis: (
        Literal['measured', 'history', 'plan', 'stop_limit', 'unknown'] | str
    )
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
    cause: Literal['user', 'plan', 'drain', 'borrow', 'reclaim', 'idle'] | str
    requested_by: str | None
    """Name of the user; null where Tandem decided itself, and for an account that was deleted."""
    state: Literal['requested', 'accepted', 'done', 'failed'] | str
    reason: str
    """Why it failed, in one sentence."""
    lanes: list[LaneProgress]
    trainer_seconds: TrainerChangeSeconds | None
    created_at: AwareDatetime
    ended_at: AwareDatetime | None


class Run(Model):
    """A run in full, as one reader may see it."""

    id: str
    name: str
    state: (
        Literal[
            'queued',
            'starting',
            'running',
            'paused',
            'stopping',
            'completed',
            'stopped',
            'cancelled',
            'failed',
        ]
        | str
    )
    state_changed_at: AwareDatetime
    phase: (
        Literal['']
        | Literal[
            'bootstrap',
            'place_lanes',
            'load_model',
            'restore',
            'evaluate',
            'train',
            'checkpoint',
            'export',
            'finish',
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
            'pause',
            'resume',
            'stop',
            'cancel',
            'sample_now',
            'checkpoint_now',
            'resize',
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
    ending: Literal['stop', 'cancel'] | str | None
    """The end that a user requested, `stop` or `cancel`; null before."""


class RunSize(Model):
    """The lanes of a run, those that could join it, and its resizes."""

    lanes: list[RunLane]
    roles: list[Literal['rollout', 'trainer', 'reward'] | str]
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


class Sample(Model):
    purpose: Literal['train', 'evaluate', 'request'] | str
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


class SweptPoint(Model):
    """One combination of settings."""

    number: int
    values: dict[str, Any]
    """The swept settings by dotted path."""
    state: Literal['waiting', 'running', 'pruned', 'completed', 'failed'] | str
    value: float | None
    """Mean of its runs' newest values of the objective; null before the first."""
    least: float | None
    """The least of them: with `greatest` the spread over seeds."""
    greatest: float | None
    num_samples: int
    """Samples that its runs have trained on, the least of them."""
    gpu_hours: float
    rungs: list[Rung]
    runs: list[SweptRun]


class Token(Model):
    id: str
    """The token's first characters."""
    name: str
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    """To the minute; null for one never used."""
    scopes: list[Literal['read', 'run', 'pool', 'admin'] | str]
    projects: list[UUID] | None
    """Ids of the projects that it is limited to; null for every project of its user."""
    pools: list[str]
    """Names of the pools that it is limited to; empty for every pool."""


class GpuTest(Model):
    """A test that a GPU must pass before it takes work again."""

    id: UUID
    state: Literal['queued', 'running', 'passed', 'failed'] | str
    requested_by: str
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    """When its job was submitted."""
    ended_at: AwareDatetime | None
    peer: str
    """Name of the GPU that the all-reduce is with; empty for none."""
    steps: list[GpuTestStep]
    """Each step that has ended, in order."""
    reason: str
    """Why it failed, or what it waits for."""
    num_repeats: int
    """Tests before it whose jobs the cluster lost."""
    operation: str
    """Its operation: `GET /operations/{id}`."""


class PoolGpu(Model):
    """A GPU as its node's agent reported it last."""

    state: (
        Literal[
            'available',
            'allocated',
            'cordoned',
            'draining',
            'maintenance',
            'awaiting_test',
            'faulty',
            'lost',
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    state_when_free: (
        Literal[
            'available',
            'allocated',
            'cordoned',
            'draining',
            'maintenance',
            'awaiting_test',
            'faulty',
            'lost',
        ]
        | str
    )
    """What it is once no run holds it."""
    labels: dict[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    """Null for a GPU that costs what its node says."""
    operation: str | None
    """Its drain: `GET /operations/{id}`; null while it is not drained itself."""
    id: int
    node: str
    uuid: str
    """Empty until its driver was asked."""
    index: int
    accelerator: str
    lane: str
    """Label of the lane that it works for; empty if it has none."""
    health: Literal['healthy', 'warning', 'failed'] | str
    """By what its driver has counted since it was put into service."""
    health_causes: list[str]
    """What ails it, the worst first."""
    remedy: str
    """What its vendor recommends; `none` for nothing."""
    health_since: AwareDatetime
    slow_factor: float | None
    """Its seconds of work ÷ the median of its peers'; null unless it is slower than they."""
    idle_since: AwareDatetime | None
    """Since when it has done nothing for its run; null while it works or is free."""
    longest_idle_seconds: float
    """The longest time that it did nothing for its run."""
    identity: GpuIdentity | None
    topology: GpuTopology | None
    live: GpuLive | None
    faults: GpuFaults | None
    reported_at: AwareDatetime | None
    test: GpuTest | None
    """The test that it waits for, or that is under way."""


class PoolNode(Model):
    """A node with its GPUs and lanes."""

    state: (
        Literal[
            'available',
            'allocated',
            'cordoned',
            'draining',
            'maintenance',
            'awaiting_test',
            'faulty',
            'lost',
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    labels: dict[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    """Null for a GPU that costs what its node says."""
    operation: str | None
    """Its drain: `GET /operations/{id}`; null while it is not drained itself."""
    id: int
    name: str
    address: str
    is_drained: bool
    """Whether it is draining and no run is left on it."""
    num_cores: int | None
    memory_bytes: int | None
    memory_used_bytes: int | None
    load: float | None
    in_cluster_at: AwareDatetime | None
    """When Ray last counted it as alive."""
    reported_at: AwareDatetime | None
    """When its own agent was last heard."""
    reader_error: str
    """Why its GPUs could not be read."""
    gpus_per_lane: int
    """How many of its GPUs make a lane; held lanes may have others."""
    num_lanes: int
    num_held: int
    gpus: list[PoolGpu]
    lanes: list[PoolLane]


class Sweep(Model):
    """A sweep in full."""

    num_points: int
    num_runs: int
    num_runs_ended: int
    num_runs_live: int
    id: str
    operation: str
    name: str
    project: RunProject
    created_by: str | None
    created_at: AwareDatetime
    ended_at: AwareDatetime | None
    state: Literal['running', 'stopping', 'stopped', 'completed'] | str
    reason: str
    num_pruned: int
    best: BestPoint | None
    gpu_hours: float
    budget_gpu_hours: float | None
    plan: dict[str, Any]
    parent: str | None
    """Id of the run that it was made from."""
    num_invalid_draws: int
    """Random draws that no run could be created from; others were drawn in their place."""
    invalid_draw: str
    """The first of them, with why."""
    lane_hours: float
    """Hours of lanes of any kind that its runs held."""
    points: list[SweptPoint]
    best_so_far: list[BestSoFar]
