"""A driver is killed, and the next attempt goes on with the lanes that it has left, on real Ray."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load

from tests.engine.driving import ROOT, RUN, Driven, grants, is_alive
from tests.engine.ray.local_versions import local_versions
from tests.engine.ray.reported import published
from worker.contracts.left_lanes import LEFT_LANES_VARIABLE, LeftLanes
from worker.contracts.run_spec import RunSpec
from worker.engine.control.surviving_lanes import LaneNames

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]
NUM_BATCHES = 12


def short_spec(make_spec: MakeSpec, **changes: Any) -> RunSpec:
    fields: dict[str, Any] = {
        "num_batches": NUM_BATCHES,
        "pipeline": {"deterministic": True},
        "batch": {"fragment_size": 2},
        "evaluation": {"every_num_batches": None},
        "checkpoint": {"every_num_batches": 1, "num_kept": 4},
    }
    return make_spec(**(fields | changes))


def killed_after(drive: Drive, spec: RunSpec, batch: int, **answer: Any) -> tuple[dict[str, int], str]:
    """Kill a driver that has reported a checkpoint of this batch; the processes of its lanes, and the checkpoint."""
    driven = drive(spec, **answer)
    driven.until(lambda: any(event["batch"] >= batch for event in driven.ingest.of_type("checkpoint")))
    os.kill(driven.process.pid, signal.SIGKILL)
    driven.process.wait()
    checkpoint = driven.ingest.of_type("checkpoint")[-1]
    pids = driven.pids()
    driven.ingest.events.clear()
    return pids, checkpoint["uri"]


def test_the_next_attempt_goes_on_in_the_same_processes_with_bitwise_the_same_weights(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    spec = short_spec(make_spec)
    pids, checkpoint = killed_after(drive, spec, 2)
    assert all(map(is_alive, pids.values())), "lanes outlive their driver"
    again = drive(spec, attempt=2, resume_from=checkpoint)
    assert again.finish() == 0
    assert again.pids() == pids
    versions = published(again)
    expected = local_versions(spec, tiny_checkpoint, NUM_BATCHES)
    assert versions == {number: expected[number] for number in versions}
    assert NUM_BATCHES in versions
    assert not any(map(is_alive, pids.values())), "the last attempt has ended them"


@pytest.mark.slow
def test_what_does_not_fit_the_next_attempt_is_ended(drive: Drive, make_spec: MakeSpec) -> None:
    """Without a checkpoint the trainer lane starts anew; a lane that is granted no more ends."""
    spec = short_spec(make_spec, lanes={"num_rollout": 2})
    pids, _ = killed_after(drive, spec, 1)
    fewer = tuple(grant for grant in grants(spec) if grant.lane != "rollout-1")
    again = drive(spec, attempt=2, lanes=fewer)
    again.until_batch(1)
    now = again.pids()
    assert (now["rollout-0"], now["reward-0"]) == (pids["rollout-0"], pids["reward-0"])
    assert now["trainer-0"] != pids["trainer-0"]
    again.until(lambda: not any(is_alive(pids[lane]) for lane in ("trainer-0", "rollout-1")))
    again.command("c1", "cancel")
    assert again.finish() == 0


@pytest.mark.slow
def test_another_spec_has_lanes_of_its_own(drive: Drive, make_spec: MakeSpec) -> None:
    spec = short_spec(make_spec)
    pids, checkpoint = killed_after(drive, spec, 1)
    other = short_spec(make_spec, optimizer={"learning_rate": 1e-5})
    again = drive(other, attempt=2, resume_from=checkpoint)
    assert again.finish() == 0
    assert not set(again.pids().values()) & set(pids.values())


@pytest.mark.slow
def test_lanes_that_nobody_goes_on_with_are_ended_by_the_job_of_the_web(
    drive: Drive, make_spec: MakeSpec, ray_address: str
) -> None:
    pids, _ = killed_after(drive, short_spec(make_spec), 1)
    left = LeftLanes(run=RUN, attempt=1, lanes=("rollout-0", "trainer-0"))
    job = [sys.executable, "-P", "-m", "worker.engine.end_lanes"]
    environment = os.environ | {LEFT_LANES_VARIABLE: left.model_dump_json(), "RAY_ADDRESS": ray_address}
    subprocess.run(job, check=True, cwd=ROOT, env=environment | {"PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 30
    while any(is_alive(pids[lane]) for lane in ("rollout-0", "trainer-0")) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert {lane: is_alive(pid) for lane, pid in pids.items()} == {
        "rollout-0": False,
        "trainer-0": False,
        "reward-0": True,
    }


@pytest.mark.slow
def test_lanes_that_nobody_attends_to_end_by_themselves(drive: Drive, make_spec: MakeSpec) -> None:
    pids, _ = killed_after(drive, short_spec(make_spec), 1)
    deadline = time.monotonic() + 90
    while any(map(is_alive, pids.values())) and time.monotonic() < deadline:
        time.sleep(1)
    assert not any(map(is_alive, pids.values()))
    assert not list(LaneNames(RUN, 1).groups()), "and leave nothing"


@pytest.mark.slow
@pytest.mark.parametrize("num_trainer", [1, 2])
def test_lanes_that_are_lent_and_a_version_behind_go_on_too(
    drive: Drive, make_spec: MakeSpec, tmp_path: Path, num_trainer: int
) -> None:
    """Bitwise on one trainer lane; on two, whose sums depend on who was faster, within float reordering."""
    spec = short_spec(
        make_spec,
        lanes={"num_rollout": 1, "num_trainer": num_trainer},
        pipeline={"deterministic": True, "max_staleness": 1, "importance_cap": 2.0, "tag": "greedy"},
        deepspeed={"config": "zero2"},
    )
    undisturbed = drive(spec, checkpoints=f"file://{tmp_path}/undisturbed")
    assert undisturbed.finish() == 0
    expected, weights = published(undisturbed), final_weights(undisturbed)
    undisturbed.ingest.events.clear()
    pids, checkpoint = killed_after(drive, spec, 3)
    again = drive(spec, attempt=2, resume_from=checkpoint)
    assert again.finish() == 0
    assert again.pids() == pids
    if num_trainer == 1:
        versions = published(again)
        assert versions == {number: expected[number] for number in versions}
    for name, found in final_weights(again).items():
        torch.testing.assert_close(found, weights[name], rtol=1e-3, atol=1e-5)


def final_weights(driven: Driven) -> dict[str, torch.Tensor]:
    """The weights that the run ended with."""
    final = next(event for event in driven.ingest.of_type("adapter") if event["final"])
    return load(driven.ingest.artifacts[final["artifact"]])
