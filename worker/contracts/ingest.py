"""The HTTP words between driver and web. All paths lie under `TANDEM_PUBLIC_URL`.

======  ==========================================================  =====================================
verb    path                                                        body → answer
======  ==========================================================  =====================================
POST    /api/ingest/v1/bootstrap                                    `BootstrapRequest` → `BootstrapAnswer`
GET     /api/ingest/v1/runs/{run}/attempts/{n}/prompts              → `PromptsAnswer`
POST    /api/ingest/v1/runs/{run}/attempts/{n}/events               `IngestBatch` → `IngestAnswer`
PUT     /api/ingest/v1/runs/{run}/attempts/{n}/artifacts/{path}     bytes, `X-Content-SHA256` → 201
======  ==========================================================  =====================================

All but the bootstrap carry `Authorization: Bearer <run token>`. 401: bad token. 410: a newer attempt exists, or the
run has ended; the driver exits. 409: a gap in the numbering; the answer names the number expected. Events at or below
the high-water mark are acknowledged and dropped. An empty batch is a heartbeat.
"""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.commands import RunCommand
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec

BOOTSTRAP_PATH = "/api/ingest/v1/bootstrap"
PROMPTS_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/prompts"
EVENTS_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/events"
ARTIFACT_PATH = "/api/ingest/v1/runs/{run}/attempts/{attempt}/artifacts/{path}"
SCHEDULE_LOG_FOLDER = "schedule/"
"""Artifact paths of the schedule log begin so; sorted by name, the parts are in order."""
SHA256_HEADER = "X-Content-SHA256"
BOOTSTRAP_CODE_VARIABLE = "TANDEM_BOOTSTRAP_CODE"
PUBLIC_URL_VARIABLE = "TANDEM_PUBLIC_URL"
HEARTBEAT_SECONDS = 2.0
"""The driver posts at least this often, if only an empty batch."""


class LaneGrant(Contract):
    """One lane that fleet gave this run: a role on a node, with the node's GPUs that belong to it."""

    lane: str
    role: LaneRole
    node: str
    gpus: tuple[Index, ...] = ()
    """Numbers of its GPUs on their node; empty for a CPU slot."""
    resources: tuple[str, ...] = ()
    """Custom Ray resources that its process occupies, one of each: they stand for its GPUs, and so for its node."""
    num_cpus: float = 0.5

    @property
    def device(self) -> str:
        """What its process may see: `cpu`, or the numbers of its GPUs by comma."""
        return ",".join(str(index) for index in self.gpus) or "cpu"


class BootstrapRequest(Contract):
    code: str


class BootstrapAnswer(Contract):
    run: UUID
    attempt: Count
    token: str
    spec: RunSpec
    """The run's spec with everything resolved; its prompts are asked for at `PROMPTS_PATH`, since they may be many."""
    base_model_path: str
    """Resolved: an existing folder below one of `TANDEM_MODEL_ROOTS`, or the hub id."""
    lanes: tuple[LaneGrant, ...]
    checkpoints: str
    """fsspec URL under which this attempt writes its checkpoints."""
    resume_from: str | None = None
    """fsspec URL of the checkpoint to resume from."""
    secrets: Annotated[dict[str, str], Field(repr=False)] = {}
    """Tokens of remote scorers by name, those that the spec asks for. Held in memory only."""
    first_seq: Count = 1
    initial_adapter: str | None = None
    stop_seconds: Annotated[float, Field(gt=0)] = 300.0
    """A stopped run gives up the batch under way, or its last evaluation, this long after it was told to stop."""
    prior_costs: tuple[WorkCost, ...] = ()
    """What work costs these lanes by the plan, where one was made: gone by until the run has learnt its own."""


class PromptsAnswer(Contract):
    prompts: tuple[Prompt, ...]
    """The run's prompts in order, the spec's own or the uploaded set's; paths of pictures are absolute."""


class IngestBatch(Contract):
    """Events in order without gaps. They are kept as plain mappings here and validated one by one by the web."""

    events: tuple[dict[str, Any], ...] = ()
    pending: Index = 0
    """How many more events wait in the driver's spool."""


class IngestAnswer(Contract):
    acknowledged: Index
    """The high-water mark: the highest number stored."""
    commands: tuple[RunCommand, ...] = ()
