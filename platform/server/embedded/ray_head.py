"""A local Ray head for `make up`: token authentication, explicit ports, everything on loopback unless
`TANDEM_RAY_HOST` lets other machines join.

Lanes, not Ray's CPU count, limit how much runs at once, so the head declares more CPUs than the machine has. Jobs
inherit the head's environment and folder, from which no code of Tandem can be imported; as on any other cluster, they
run the code that they upload.
"""

import json
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from server.embedded import folders
from server.embedded.ports import RayPorts
from server.environment import ROOT, read_or_create_secret
from server.supervisor.process_spec import ProcessSpec, base_environment
from worker.contracts.node_reports import NODE_LABEL
from worker.contracts.private_variables import PRIVATE_VARIABLES

RAY_START = ROOT / "worker" / "node" / "ray_start.py"
NUM_CPUS = 64

NOT_PASSED_ON = PRIVATE_VARIABLES | {"PYTHONPATH", "RAY_ADDRESS", "TANDEM_ONESHOT"}
"""Variables of this process that no job needs or may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RayHead:
    """The head that belongs to the data folder `var`."""

    var: Path
    ports: RayPorts
    node: str
    """Its name in the pool."""
    host: str
    """The address on which it listens for further nodes."""
    object_store_bytes: int | None = None
    """Of this node; by default Ray takes 30 % of the memory that is free, as far as `/dev/shm` holds it."""
    resources: dict[str, float] = field(default_factory=dict)
    """Custom resources of this node: one per GPU, named by `worker.contracts.lanes.gpu_resource`."""

    @property
    def jobs_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.dashboard}"

    @property
    def join_address(self) -> str:
        """`HOST:PORT` by which further nodes join."""
        return f"{self.host}:{self.ports.gcs}"

    @property
    def token_path(self) -> Path:
        return self.var / "ray-token"

    def client_environment(self) -> dict[str, str]:
        """What a process needs to submit jobs here."""
        return {
            "RAY_ADDRESS": self.jobs_url,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token_path),
        }

    def prepare(self) -> None:
        read_or_create_secret(self.token_path, num_bytes=32)
        folder = folders.ray_folder(self.var)
        # Sessions of earlier starts are removed by nobody else, and the logs that runs need are in the database.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)

    def process_spec(self) -> ProcessSpec:
        inherited = {name: value for name, value in base_environment().items() if name not in NOT_PASSED_ON}
        env = {
            **inherited,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token_path),
            "RAY_USAGE_STATS_ENABLED": "0",
            # Ray must not start 64 idle workers for 64 declared CPUs; actors start when a run needs them.
            "RAY_prestart_worker_first_driver": "0",
            "RAY_enable_worker_prestart": "0",
            # Ray's records of every call and its own metrics, which Tandem reads nowhere. What the dashboard and its
            # agent measure of every process has no switch: an hour stands for never.
            "RAY_task_events_report_interval_ms": "0",
            "RAY_enable_timeline": "0",
            "RAY_enable_metrics_collection": "0",
            "METRICS_RECORD_INTERVAL_S": "3600",
            "REPORTER_UPDATE_INTERVAL_MS": "3600000",
            # An actor sets its visible devices from its lane, so Ray must not clear them for an actor without GPUs.
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "OMP_NUM_THREADS": inherited.get("OMP_NUM_THREADS", "1"),
            "TANDEM_EMBEDDINGS": inherited.get("TANDEM_EMBEDDINGS", str(self.var / "embeddings")),
        }
        # Not the command `ray`, whose first line may name an interpreter in a moved folder.
        argv = (str(Path(env["PATH"].split(":")[0]) / "python"), "-P", str(RAY_START), "start", *self._flags())
        return ProcessSpec(name="ray", argv=argv, env=env, cwd=str(folders.ray_folder(self.var)), stop_seconds=1.5)

    def _flags(self) -> list[str]:
        ports = self.ports
        values = {
            "node-ip-address": self.host,
            "port": ports.gcs,
            "dashboard-host": "127.0.0.1",
            "dashboard-port": ports.dashboard,
            "dashboard-agent-listen-port": ports.agent_listen,
            "dashboard-agent-grpc-port": ports.agent_grpc,
            "runtime-env-agent-port": ports.runtime_env_agent,
            "metrics-export-port": ports.metrics,
            "node-manager-port": ports.node_manager,
            "object-manager-port": ports.object_manager,
            "min-worker-port": ports.workers[0],
            "max-worker-port": ports.workers[1],
            "num-cpus": NUM_CPUS,
            # GPUs are custom resources, of which each lane asks for its own.
            "num-gpus": 0,
            "temp-dir": folders.ray_folder(self.var),
            "resources": json.dumps(self.resources),
            "labels": f"{NODE_LABEL}={self.node}",
        }
        if self.object_store_bytes is not None:
            values["object-store-memory"] = self.object_store_bytes
        # No monitor: it scales clusters whose nodes a cloud starts, and takes 50 MB. No log monitor, 35 MB: it copies
        # the logs of lanes to drivers, which do not want them.
        switches = ("--head", "--block", "--no-monitor", "--include-log-monitor=false", "--disable-usage-stats")
        return [*switches, *(f"--{name}={value}" for name, value in values.items())]

    def is_ready(self) -> bool:
        """Whether the Jobs API answers with our token."""
        token = self.token_path.read_text().strip()
        request = urllib.request.Request(f"{self.jobs_url}/api/jobs/", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=2) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False
