"""The gateway to Ray's Jobs API: submit a driver's job, read its status and log, stop it.

No other module of the web talks to Ray. A job uploads its code, the package `worker` without its fixtures, so nodes
need the locked requirements and no checkout. The job's environment is readable on the cluster, so it carries the
single-use code and the public URL, never a token. Ray is imported when first needed, because it is large and most
processes never need it.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from worker.contracts.lanes import NODE_ID_LABEL, LaneGrant, gpu_resource
from worker.contracts.node_reports import NODE_LABEL

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.engine"
"""`-P` makes Python import the uploaded code, not what lies in the folder where Ray was started."""
NUM_LOG_LINES = 60
MAX_NODES = 10_000
"""The most that Ray lists at once."""
UPLOAD_EXCLUDES = ["**/__pycache__", "/fixtures"]
"""Relative to `worker/`. Compiled files would change the upload's hash, and with it send the code again, at every
start; the fixtures build checkpoints, which no job does."""

NAME_LOOKUPS = {"RES_OPTIONS": "timeout:1 attempts:2"}
"""How long processes of a job wait for the name of an address, at most 2 s (`resolv.conf(5)`). torch looks up the name
of each peer that it connects to, for its log, before the connection counts as made (PyTorch, `c10d/socket.cpp`), and
glibc's own 10 s are longer than a source of broadcasts waits for its lanes. Read when a process starts."""


class JobStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    UNKNOWN = "unknown"
    """The cluster has no such job: it was never submitted, or the cluster was restarted."""

    @property
    def is_over(self) -> bool:
        return self not in (JobStatus.PENDING, JobStatus.RUNNING)


class ClusterUnavailable(Exception):
    """Ray's Jobs API could not be reached, or answered with an error of its own."""


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node that Ray counts as alive."""

    label: str
    """The name that it gives itself; empty if Tandem did not start it."""
    has_gpus: bool
    node_id: str = ""
    """Ray's id of it."""
    object_store_bytes: int | None = None
    """What its object store may hold in shared memory; None where Ray does not say."""


class ClusterGateway(Protocol):
    """What the web needs of a cluster. Every method raises `ClusterUnavailable`."""

    def submit(
        self, submission_id: str, env: Mapping[str, str], *, entrypoint: str = ENTRYPOINT, lane: LaneGrant | None = None
    ) -> None:
        """Start a job, by default a driver; a repeat with the same id changes nothing. `lane`: the lane that the job's
        own process occupies; a driver's occupies none, since its lanes are actors."""

    def status(self, submission_id: str) -> JobStatus: ...

    def log_tail(self, submission_id: str) -> str:
        """The last lines of the job's log; empty if it has none."""

    def stop(self, submission_id: str) -> None:
        """Ask the job to stop; has no effect on one that is over or unknown."""

    def nodes(self) -> tuple[RayNode, ...]: ...


class RayCluster:
    """The gateway over HTTP to `settings.RAY_ADDRESS`; Ray reads its token from the environment."""

    def submit(
        self, submission_id: str, env: Mapping[str, str], *, entrypoint: str = ENTRYPOINT, lane: LaneGrant | None = None
    ) -> None:
        with _ray_errors():
            try:
                _client().submit_job(
                    entrypoint=entrypoint,
                    submission_id=submission_id,
                    runtime_env={
                        "env_vars": {**NAME_LOOKUPS, **env},
                        "py_modules": [str(Path(settings.TANDEM_ROOT) / "worker")],
                        "excludes": UPLOAD_EXCLUDES,
                    },
                    entrypoint_num_cpus=lane.num_cpus if lane else None,
                    entrypoint_resources=dict.fromkeys(lane.resources, 1.0) if lane else None,
                    entrypoint_label_selector={NODE_ID_LABEL: lane.ray_node_id} if lane and lane.ray_node_id else None,
                )
            except RuntimeError:
                # Ray refuses a duplicate id with a bare HTTP 500, so the job's status tells whether it exists.
                if self.status(submission_id) is JobStatus.UNKNOWN:
                    raise

    def status(self, submission_id: str) -> JobStatus:
        with _ray_errors():
            try:
                return JobStatus(str(_client().get_job_status(submission_id).value).lower())
            except RuntimeError as error:
                if _is_not_found(error):
                    return JobStatus.UNKNOWN
                raise

    def log_tail(self, submission_id: str) -> str:
        with _ray_errors():
            try:
                logs = _client().get_job_logs(submission_id)
            except RuntimeError as error:
                if _is_not_found(error):
                    return ""
                raise
            return "\n".join(logs.splitlines()[-NUM_LOG_LINES:])

    def stop(self, submission_id: str) -> None:
        with _ray_errors():
            try:
                _client().stop_job(submission_id)
            except RuntimeError as error:
                if not _is_not_found(error):
                    raise

    def nodes(self) -> tuple[RayNode, ...]:
        with _ray_errors():
            from ray.util.state import list_nodes

            # Ray counts what its own filter leaves out, the dead nodes, as output that is missing.
            alive = list_nodes(
                settings.RAY_ADDRESS,
                filters=[("state", "=", "ALIVE")],
                limit=MAX_NODES,
                raise_on_missing_output=False,
            )
        return tuple(_ray_node(node.node_id, dict(node.labels or {}), node.resources_total) for node in alive)


def _ray_node(node_id: str, labels: Mapping[str, str], resources: Mapping[str, float]) -> RayNode:
    label = labels.get(NODE_LABEL, "")
    store = resources.get("object_store_memory")
    return RayNode(
        label=label,
        has_gpus=bool(resources.get("GPU")) or gpu_resource(label, 0) in resources,
        node_id=node_id,
        object_store_bytes=None if store is None else int(store),
    )


_IMPORTING = threading.Lock()


def _import_ray() -> None:
    """All of Ray that is used here, by one thread: its modules import each other in circles, and two threads that
    begin at once leave it half imported for as long as the process lives."""
    with _IMPORTING:
        for name in ("ray.job_submission", "ray.util.state"):
            import_module(name)


@contextmanager
def _ray_errors() -> Iterator[None]:
    """Turns all errors by which Ray's client reports a missing answer into `ClusterUnavailable`; callers retry
    later."""
    _import_ray()
    from ray.exceptions import RayError
    from ray.util.state.exception import RayStateApiException

    try:
        yield
    except (OSError, RuntimeError, RayError, RayStateApiException) as error:
        # `ConnectionError` without a connection, `RuntimeError` for HTTP errors, `RayError` for a wrong token, and the
        # list of nodes has an exception of its own.
        _client.cache_clear()
        raise ClusterUnavailable(f"Ray at {settings.RAY_ADDRESS} could not be reached: {error}") from error


def _is_not_found(error: RuntimeError) -> bool:
    return "404" in str(error) or "does not exist" in str(error)


@cache
def _client() -> Any:
    from ray.job_submission import JobSubmissionClient

    return JobSubmissionClient(settings.RAY_ADDRESS)
