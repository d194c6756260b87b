"""Commands that people send to runs on real Ray, and the other ways in which runs end early."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.driving import LANE_RESOURCES, Driven, grants, is_alive
from tests.engine.ray.reported import check_tiling, kinds
from worker.contracts.run_spec import RunSpec

# Several actors import torch at once, which takes seconds on an idle machine and minutes on a busy one.
pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]


@pytest.mark.parametrize(
    ("pipeline", "stage"),
    [
        pytest.param({"tag": "greedy"}, 1, id="lending", marks=pytest.mark.slow),
        pytest.param({"placement": "colocated"}, 2, id="colocated", marks=pytest.mark.slow),
        pytest.param({"placement": "colocated"}, 3, id="colocated-sharded", marks=pytest.mark.slow),
        pytest.param({"max_staleness": 1, "tag": "greedy"}, 0, id="ahead", marks=pytest.mark.slow),
    ],
)
def test_a_run_obeys_its_commands_on_two_trainer_ranks(
    drive: Drive, make_spec: MakeSpec, pipeline: dict[str, Any], stage: int
) -> None:
    # No checkpoint by cadence, since how many batches pass before a command arrives depends on the machine.
    spec = make_spec(
        num_batches=10_000,
        lanes={"num_rollout": 0 if "placement" in pipeline else 1, "num_trainer": 2},
        pipeline=pipeline,
        deepspeed={"config": f"zero{stage}"},
        checkpoint={"every_num_batches": None},
        evaluation={"every_num_batches": None},
    )
    lanes = [grant.model_copy(update={"resources": (LANE_RESOURCES[grant.lane],)}) for grant in grants(spec)]
    driven = drive(spec, lanes=lanes)
    driven.until_batch(1)
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1] == "paused")
    driven.command("c2", "sample_now", prompts=["a green circle"])
    driven.command("c3", "checkpoint_now")
    driven.until(lambda: driven.answer_to("c2") is not None and driven.answer_to("c3") is not None)
    num_batches = max(driven.reported_batches())
    driven.command("c4", "pause")
    driven.command("c5", "resume")
    driven.until_batch(num_batches + 1)
    driven.command("c6", "stop")
    assert driven.finish() == 0

    assert driven.states() == ["running", "paused", "running", "stopping", "stopped"]
    answers = {done["command_id"]: done["accepted"] for done in driven.ingest.of_type("command_done")}
    assert answers == {"c1": True, "c2": True, "c3": True, "c4": False, "c5": True, "c6": True}
    requested = [event for event in driven.ingest.of_type("samples") if event["purpose"] == "request"]
    assert {sample["prompt"] for sample in requested[0]["samples"]} == {"a green circle"}
    assert [event["final"] for event in driven.ingest.of_type("adapter")] == [False, True]
    num_batches = max(driven.reported_batches())
    assert [event["batch"] for event in driven.ingest.of_type("evaluation")] == [0, num_batches], "where it stopped too"
    assert driven.ingest.of_type("checkpoint")[-1]["batch"] == num_batches
    of_trainers = kinds(driven, "trainer-0") | kinds(driven, "trainer-1")
    assert {"pause", "train"} <= of_trainers
    assert {"generate", "lent_generate"} & of_trainers, "trainer lanes generate, too"
    assert {event["policy_version"] for event in driven.ingest.of_type("publish")} == set(range(num_batches + 1))
    check_tiling(driven)


@pytest.mark.slow
def test_a_stop_that_takes_too_long_gives_up_the_batch_and_keeps_the_last_checkpoint(
    drive: Drive, make_spec: MakeSpec, tmp_path: Path
) -> None:
    # The rollout lane is frozen while the run is paused, so that the next batch is open when the stop arrives.
    spec = make_spec(num_batches=10_000, checkpoint={"every_num_batches": 1, "num_kept": 2})
    driven = drive(spec, checkpoints=f"file://{tmp_path}/kept", stop_seconds=1e-6)
    driven.until(lambda: bool(driven.ingest.of_type("checkpoint")))
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1] == "paused")
    frozen = driven.pids()["rollout-0"]
    os.kill(frozen, signal.SIGSTOP)
    driven.command("c2", "resume")
    driven.until(lambda: driven.states()[-1] == "running")
    driven.command("c3", "stop")
    assert driven.finish() == 0

    assert driven.states() == ["running", "paused", "running", "stopping", "stopped"]
    kept = driven.ingest.of_type("checkpoint")[-1]
    assert f"and was given up; the checkpoint {kept['uri']} stays" in driven.ingest.of_type("state")[-1]["reason"]
    assert Path(kept["uri"].removeprefix("file://")).is_dir()
    assert not any(event["final"] for event in driven.ingest.of_type("adapter"))
    assert not is_alive(frozen)


def placed(driven: Driven) -> tuple[Driven, list[int]]:
    """The driver and the processes of its lanes, once they are placed."""
    driven.until(lambda: bool(driven.ingest.of_type("lanes")))
    return driven, list(driven.pids().values())


def test_cancel_ends_a_run_at_once_and_frees_its_lanes(drive: Drive, make_spec: MakeSpec) -> None:
    driven, pids = placed(drive(make_spec(num_batches=10_000)))
    driven.command("c1", "cancel")
    assert driven.finish() == 0
    assert driven.states() == ["cancelled"]
    assert not any(map(is_alive, pids))


def test_a_fenced_attempt_ends_without_a_state_and_frees_its_lanes(drive: Drive, make_spec: MakeSpec) -> None:
    driven, pids = placed(drive(make_spec(num_batches=10_000)))
    driven.ingest.is_fenced = True
    assert driven.finish() == 0
    assert driven.states() == []
    assert not any(map(is_alive, pids))


def test_a_terminated_driver_frees_its_lanes_and_reports_no_state(drive: Drive, make_spec: MakeSpec) -> None:
    driven, pids = placed(drive(make_spec(num_batches=10_000)))
    driven.process.send_signal(signal.SIGTERM)
    assert driven.finish() == 128 + signal.SIGTERM
    assert driven.states() == []
    assert not any(map(is_alive, pids))


def test_a_run_that_cannot_begin_fails_with_the_reason(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(make_spec(num_batches=1, prompts={"inline": (), "prompt_set": "without-prompts"}))
    assert driven.finish() == 1
    failed = driven.ingest.of_type("state")[-1]
    assert failed["state"] == "failed"
    assert "`batch.num_prompts_per_batch` must be ≤ 0" in failed["reason"]
    assert "Traceback" in failed["details"]
