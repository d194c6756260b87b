"""Starts real drivers, as Ray's Jobs API would, on a local Ray cluster, for tests and benches."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

import psutil
import pytest

from tests.engine.telemetry.ingest_server import TOKEN, Ingest
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE, BootstrapAnswer
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.prompts import dump_prompts
from worker.contracts.run_spec import RunSpec

ROOT = Path(__file__).resolve().parents[2]
RUN = UUID("0195e3f0-0000-7000-8000-000000000001")
RUN_SECONDS = 540
"""The time-out of a run: a hang must fail its own test, before pytest ends it. Where other work holds the cores and the
disk, four lanes that only import torch and diffusers have taken more than 240 s (10 s when idle)."""

LANE_RESOURCES = {lane: f"tandem-local-{lane}" for lane in ("rollout-0", "trainer-0", "trainer-1", "reward-0")}
"""The custom resources that the test node exposes, one for each lane, as real nodes expose one for each GPU."""
ONE_LANE = "rollout-0"
"""The lane of the tests that start one alone."""


@contextmanager
def local_cluster(*, num_cpus: int, resources: Mapping[str, float]) -> Iterator[str]:
    """A local Ray cluster; yields its address. Its folder has a short path, since socket paths are limited."""
    import ray

    folder = tempfile.mkdtemp(prefix="tr-", dir=tempfile.gettempdir())
    context = ray.init(
        num_cpus=num_cpus,
        resources=dict(resources),
        include_dashboard=False,
        _temp_dir=folder,
        log_to_driver=False,
    )
    try:
        yield context.address_info["gcs_address"]
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Driven:
    """A driver process and the ingest server that it reports to."""

    process: subprocess.Popen[str]
    ingest: Ingest

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition while the driver runs; fail with its output when it ends or hangs."""
        if not self.holds_within(condition, RUN_SECONDS):
            self.fail_with_output()

    def holds_within(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether a condition holds within `seconds`; fail with the driver's output when it ends before."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None:
                self.fail_with_output()
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def fail_with_output(self) -> NoReturn:
        """Fail the test with the driver's output, and with the stacks of its threads if it hangs."""
        stacks = ""
        if self.process.poll() is None:
            stacks = _stacks_of_lanes()
            self.process.send_signal(signal.SIGABRT)
        output = self.process.communicate()[0]
        events = "\n".join(str(event)[:200] for event in self.ingest.events[-15:])
        pytest.fail(f"the driver ended or hung:\n{events}\n{stacks}\n{output[-8000:]}")

    def finish(self) -> int:
        """Wait until the driver ends, and return its exit status."""
        try:
            output, _ = self.process.communicate(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail_with_output()
        print(output)
        return self.process.returncode

    def kill(self) -> None:
        """Kill the driver if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def states(self) -> list[str]:
        """The states that the run has reported, oldest first."""
        return [event["state"] for event in self.ingest.of_type("state")]

    def pids(self) -> dict[str, int]:
        """The process id of every lane, as it was last reported."""
        return {info["lane"]: info["pid"] for info in self.ingest.of_type("lanes")[-1]["lanes"]}

    def command(self, identity: str, kind: str, **fields: Any) -> None:
        """Send a command to the run."""
        self.ingest.commands.append({"id": identity, "kind": kind, **fields})

    def answer_to(self, identity: str) -> dict[str, Any] | None:
        """The `command_done` event of a command."""
        return next((done for done in self.ingest.of_type("command_done") if done["command_id"] == identity), None)

    def reported_batches(self) -> set[int]:
        """The numbers of the batches of which everything is reported: speeds are the last of it."""
        metrics = self.ingest.of_type("metrics")
        return {event["batch"] for event in metrics if "speed/images_per_second" in event["values"]}

    def until_batch(self, number: int) -> None:
        """Wait until a batch of at least this number is reported."""
        self.until(lambda: max(self.reported_batches(), default=0) >= number)

    def until_another_batch(self) -> None:
        """Wait until a batch is reported that is not yet."""
        self.until_batch(max(self.reported_batches(), default=0) + 1)


def _stacks_of_lanes() -> str:
    """The threads of every actor on the test's cluster, whose raylet is a child of this process."""
    names = {child: child.name() for child in psutil.Process().children(recursive=True)}
    workers = [child for child, name in names.items() if name.startswith("ray::") and "Agent" not in name]
    dumps = [
        subprocess.run(
            [Path(sys.executable).with_name("py-spy"), "dump", "--pid", str(worker.pid)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        for worker in workers
    ]
    return "\n".join((dump.stdout or dump.stderr)[:4000] for dump in dumps)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def grants(spec: RunSpec) -> tuple[LaneGrant, ...]:
    """The lanes that a spec asks for, granted on the local node."""
    lanes = spec.granted_lanes
    counts = {
        LaneRole.ROLLOUT: lanes.num_rollout,
        LaneRole.TRAINER: lanes.num_trainer,
        LaneRole.REWARD: lanes.num_reward,
    }
    return tuple(
        LaneGrant(lane=f"{role}-{index}", role=role, node="local")
        for role, count in counts.items()
        for index in range(count)
    )


def start_driver(
    ingest: Ingest, answer: BootstrapAnswer, ray_address: str, program: Sequence[str] = ("worker.engine",)
) -> Driven:
    """Start `python -m <program>` for this bootstrap answer; the caller ends it."""
    ingest.bootstrap = answer.model_dump(mode="json")
    ingest.prompts = dump_prompts(answer.spec.prompts.inline)
    environment = os.environ | {
        BOOTSTRAP_CODE_VARIABLE: "code",
        PUBLIC_URL_VARIABLE: ingest.url,
        "RAY_ADDRESS": ray_address,
        "PYTHONFAULTHANDLER": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", *program],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return Driven(process, ingest)


def bootstrap_answer(spec: RunSpec, base_model_path: str, checkpoints: Path, /, **changes: Any) -> BootstrapAnswer:
    """The bootstrap answer of the web to the run's driver; `changes` replace fields."""
    fields: dict[str, Any] = {
        "run": RUN,
        "attempt": 1,
        "token": TOKEN,
        "spec": spec,
        "base_model_path": base_model_path,
        "lanes": grants(spec),
        "checkpoints": f"file://{checkpoints}",
    }
    return BootstrapAnswer(**(fields | changes))
