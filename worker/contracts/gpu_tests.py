"""A test that a GPU must pass before it takes work again: what the job is told, and what it reports.

======  ======================================  ================================
verb    path                                    body → answer
======  ======================================  ================================
POST    /api/ingest/v1/gpu-tests/bootstrap      `BootstrapRequest` → `GpuTestJob`
POST    /api/ingest/v1/gpu-tests/<test>/report  `GpuTestReport` → 204
======  ======================================  ================================

Reports carry `Authorization: Bearer <token>`. The job reports after every step, each time all steps that have ended;
the last report says that it is.
"""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from worker.contracts.base import Contract, Duration
from worker.contracts.names import ModelFamily

GPU_TEST_BOOTSTRAP_PATH = "/api/ingest/v1/gpu-tests/bootstrap"
GPU_TEST_REPORT_PATH = "/api/ingest/v1/gpu-tests/{test}/report"
MAX_DETAIL_CHARS = 1000
MAX_TEST_SECONDS = 1200
"""How long a test may take from the submission of its job: the sum of what its steps may take, which is 1,020 s, and
three minutes for the start of the job."""


class GpuTestStepName(StrEnum):
    DEVICE = "device"
    """The GPU that was asked for is the one that the job sees."""
    MATRIX_PRODUCT = "matrix_product"
    """Products on the GPU agree with the CPU's, and with each other bit by bit; with their rate."""
    MEMORY_SWEEP = "memory_sweep"
    """Patterns that are written to its free memory are read back."""
    ENGINE = "engine"
    """A tiny run of the engine: pictures, rewards, an optimizer step."""
    ALL_REDUCE = "all_reduce"
    """A sum over this GPU and another one of its node."""


class StepOutcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It could not be tried here; `detail` says why."""


class GpuTestStep(Contract):
    """One step of a test that has ended."""

    name: GpuTestStepName
    outcome: StepOutcome
    seconds: Duration
    detail: Annotated[str, Field(max_length=MAX_DETAIL_CHARS)] = ""
    """What was measured, or what went wrong, as a sentence."""


class GpuTestJob(Contract):
    """What the job is told."""

    test: UUID
    token: str
    """Bearer token of this test for the ingest, held in memory only."""
    device: str
    """The GPU, as `LaneGrant.device` names it."""
    uuid: str
    """Its UUID; empty where its vendor's library takes indices only."""
    peer: str | None = None
    """Another GPU of the node for the all-reduce, named likewise; `None` where none is free."""
    base_model_path: str = ""
    """A small base model below the model roots, for the tiny run; empty where the web has none."""
    base_model_family: ModelFamily | None = None
    """The family of that model."""


class GpuTestReport(Contract):
    steps: Annotated[tuple[GpuTestStep, ...], Field(max_length=len(GpuTestStepName))]
    is_final: bool
