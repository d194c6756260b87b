"""The HTTP interface between driver and web: paths and bodies. All paths lie under `TANDEM_PUBLIC_URL`.

======  ==========================================================  =====================================
verb    path                                                        body → answer
======  ==========================================================  =====================================
POST    /api/ingest/v1/bootstrap                                    `BootstrapRequest` → `BootstrapAnswer`
GET     /api/ingest/v1/runs/{run}/attempts/{n}/prompts              → `PromptsAnswer`
POST    /api/ingest/v1/runs/{run}/attempts/{n}/events               `IngestBatch` → `IngestAnswer`
PUT     /api/ingest/v1/runs/{run}/attempts/{n}/artifacts/{path}     bytes, `X-Content-SHA256` → 201
POST    /api/ingest/v1/runs/{run}/attempts/{n}/artifacts            tar of files by path, the same header → 201
======  ==========================================================  =====================================

All but the bootstrap carry `Authorization: Bearer <run token>`. 401: bad token. 410: a newer attempt exists, or the
run has ended; the driver exits. 409: a gap in the numbering; the answer names the number expected. Events at or below
the high-water mark are acknowledged and dropped. 507: there is no space to store them; the driver keeps them and tries
again. An empty batch is a heartbeat.
"""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.commands import RunCommand
from worker.contracts.events import WorkCost
from worker.contracts.lanes import LaneGrant
from worker.contracts.prompts import Prompt
from worker.contracts.replanning import ReplanBasis
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import NO_ACCESS, ScorerAccess

BOOTSTRAP_PATH = "/api/ingest/v1/bootstrap"
PROMPTS_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/prompts"
EVENTS_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/events"
ARTIFACT_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/artifacts/{path}"
ARTIFACTS_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/artifacts"
MAX_BUNDLE_BYTES = 8 * 2**20
"""The largest sum of the sizes of files that are uploaded together; the web holds them in memory."""
MAX_BUNDLE_FILES = 256
"""The most files that are uploaded together, which bounds one transaction of the web."""
SCHEDULE_LOG_FOLDER = "schedule/"
"""Artifact paths of the schedule log begin so; sorted by name, the parts are in order."""
SHA256_HEADER = "X-Content-SHA256"
BOOTSTRAP_CODE_VARIABLE = "TANDEM_BOOTSTRAP_CODE"
PUBLIC_URL_VARIABLE = "TANDEM_PUBLIC_URL"
TRACEPARENT_VARIABLE = "TRACEPARENT"
"""The name that OpenTelemetry gives W3C's header in an environment; set where traces are on."""
HEARTBEAT_SECONDS = 2.0
"""Longest time between two posts of the driver; without new events it posts an empty batch. Two seconds keep commands
prompt at negligible load. Where somebody watches the run, new events are posted sooner."""


MAX_CODE_CHARS = 200
"""Of a single-use code: an id and a secret of 43 characters."""


class BootstrapRequest(Contract):
    """The first request of a driver or of a preview job."""

    code: Annotated[str, Field(max_length=MAX_CODE_CHARS)]
    """The single-use code from its environment."""


class RunOrigin(Contract):
    """The checkpoint of another run that a forked run begins from."""

    uri: str
    """fsspec URL of the checkpoint."""
    batch: Index
    """Complete batches of the checkpoint, from which the forked run counts on."""


class BootstrapAnswer(Contract):
    """Everything that a driver needs to run an attempt. It is held in memory only."""

    run: UUID
    """The run's id."""
    attempt: Count
    """The attempt's number, from 1."""
    token: Annotated[str, Field(repr=False)]
    """Bearer token of this attempt for the ingest."""
    spec: RunSpec
    """What the user asked for, with `placement: auto` resolved by the planner. The driver asks for the prompts at
    `PROMPTS_PATH`, since they may be many."""
    base_model_path: str
    """The base model: an existing folder below one of `TANDEM_MODEL_ROOTS`, or the hub id."""
    lanes: tuple[LaneGrant, ...]
    """The lanes allocated to the run."""
    checkpoints: str
    """fsspec URL under which this attempt writes its checkpoints."""
    resume_from: str | None = None
    """fsspec URL of the checkpoint to resume from; a forked run without one of its own resumes from its origin."""
    origin: RunOrigin | None = None
    """What a forked run began from; empty for a run from the base model."""
    scorer_access: ScorerAccess = NO_ACCESS
    """What the spec's remote scorers need."""
    first_seq: Count = 1
    """The `seq` of the attempt's first event."""
    stop_seconds: Annotated[float, Field(gt=0)] = 300.0
    """Seconds after the stop command at which a run gives up the batch under way, or its last evaluation."""
    prior_costs: tuple[WorkCost, ...] = ()
    """Costs of work on these lanes by the plan, where one was made. The driver uses them until it has measured its
    own."""
    replan: ReplanBasis | None = None
    """What the run plans anew with while it works; empty where the user chose placement."""


class PromptsAnswer(Contract):
    prompts: tuple[Prompt, ...]
    """The run's prompts in order, the spec's own or the uploaded set's; paths of pictures are absolute."""


class IngestBatch(Contract):
    """Events in order without gaps. They are plain mappings here, since the web validates them one by one."""

    events: tuple[dict[str, Any], ...] = ()
    """The events, ascending by `seq`; empty for a heartbeat."""
    pending: Index = 0
    """Number of further events in the driver's spool."""


class IngestAnswer(Contract):
    """The web's answer to a batch of events."""

    acknowledged: Index
    """The high-water mark: the highest `seq` stored."""
    commands: tuple[RunCommand, ...] = ()
    """Commands that the driver has not answered yet."""
    is_watched: bool = False
    """Whether a page or a script follows the run's events as they come."""
