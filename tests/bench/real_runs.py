"""Runs of the shapes model on this machine's cores, one core per lane, for the bench and the slow test of predictions.

Lanes are CPU lanes with OMP_NUM_THREADS=1. The driver, the reward lane and Ray share the cores with them, so their time
is part of the lanes' measured costs.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.engine.driving import ROOT, bootstrap_answer, start_driver
from tests.engine.prediction import RunMeasurements
from tests.engine.telemetry.ingest_server import start_ingest
from worker.contracts.run_spec import RunSpec

SHAPES = ROOT / "deploy" / "models" / "shapes"
PRESET = ROOT / "deploy" / "presets" / "shapes-demo.yaml"

"""The preset whose spec and model are run."""

MODES: dict[str, dict[str, Any]] = {
    "colocated": {"placement": "colocated"},
    "disaggregated": {"gap": False},
    "gap": {},
    "gap, tag greedy": {"tag": "greedy"},
    "gap, tag search": {"tag": "search"},
    "gap, staleness 1": {"max_staleness": 1},
    "gap, staleness 1, tag greedy": {"max_staleness": 1, "tag": "greedy"},
    "gap, staleness 1, tag search": {"max_staleness": 1, "tag": "search"},
}
"""The `pipeline` section of each mode. Time-step parallelism is on in all of them, as it makes no difference to a
single trainer rank."""

BUSY_MODES = tuple(mode for mode in MODES if "tag" in mode)
"""Modes in which rollout and trainer lane are at work throughout."""

RUN_SECONDS = 900
"""Bounds a hang: on an otherwise idle machine a run takes a minute."""

BATCH = {
    "num_prompts_per_batch": 9,
    "group_size": 16,
    "fragment_size": 4,
    "num_minibatches": 1,
    "num_epochs_per_batch": 1,
    "micro_batch_size": 16,
}
"""The preset's batch with one epoch and smaller fragments, so that a fragment is a small part of a batch, as on large
pools."""


@dataclass(frozen=True, slots=True)
class RealRun:
    """One finished run."""

    measured: RunMeasurements
    load_average: float
    """The machine's load average over the minute before the run's end."""

    @property
    def steady(self) -> list[float]:
        """Seconds of the steady batches: without the first two and the last, which overlap with fewer others."""
        last = max(self.measured.batch_seconds)
        return [seconds for batch, seconds in self.measured.batch_seconds.items() if 2 < batch < last]


def shapes_spec(mode: str, *, num_batches: int, num_rollout: int = 1, num_trainer: int = 1) -> RunSpec:
    """The demo's spec with this mode's switches, scored by one cheap reward, with next to no evaluation."""
    document = yaml.safe_load(PRESET.read_text())["spec"]
    return RunSpec.model_validate(
        document
        | {
            "rewards": [{"name": "shape_match"}],
            "batch": BATCH,
            "pipeline": MODES[mode],
            "lanes": {"num_rollout": num_rollout, "num_trainer": num_trainer},
            "evaluation": {"prompts": ["a red square"], "num_samples_per_prompt": 1, "every_num_batches": None},
            "checkpoint": {"every_num_batches": None},
            "num_batches": num_batches,
        }
    )


def real_run(spec: RunSpec, ray_address: str) -> RealRun:
    """Run `spec` to its end. Raises `RuntimeError` with the driver's output if it fails."""
    ingest, server = start_ingest()
    with tempfile.TemporaryDirectory(prefix="tandem-real-") as folder:
        answer = bootstrap_answer(spec, str(SHAPES), Path(folder) / "checkpoints")
        driven = start_driver(ingest, answer, ray_address)
        try:
            output, _ = driven.process.communicate(timeout=RUN_SECONDS)
        finally:
            driven.kill()
            server.shutdown()
            server.server_close()
    if driven.process.returncode != 0:
        raise RuntimeError(f"the run failed: {output[-4000:]}")
    return RealRun(RunMeasurements.of_events(ingest.events), os.getloadavg()[0])
