"""Runs on real Ray whose lanes come, go and change their roles while they work."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load

from tests.engine.driving import Driven, is_alive
from tests.engine.ray.local_versions import local_versions
from tests.engine.ray.reported import check_tiling, published
from tests.engine.ray.resizing import granted, outcome, reports, resize, roles, steps
from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]

MAX_REORDERING = 1e-4
"""The relative difference that another order of fp32 sums may make (architecture.md: gradients agree to 1e-4)."""


def final_adapter(driven: Driven) -> dict[str, torch.Tensor]:
    """The tensors of the run's last download."""
    event = next(event for event in driven.ingest.of_type("adapter") if event["final"])
    return load(driven.ingest.artifacts[event["artifact"]])


def exported(local: LocalRun, folder: Path) -> dict[str, torch.Tensor]:
    """The download of a run in one process."""
    folder.mkdir()
    local.trainer.export(str(folder))
    return load((folder / "pytorch_lora_weights.safetensors").read_bytes())


def relative_distance(
    found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], start: dict[str, torch.Tensor]
) -> float:
    """‖found − expected‖ ÷ ‖expected − start‖ over all tensors: what was learnt differently, of all that was learnt."""
    assert found.keys() == expected.keys() == start.keys()
    differs = sum(float((found[name].double() - expected[name].double()).square().sum()) for name in expected)
    learnt = sum(float((expected[name].double() - start[name].double()).square().sum()) for name in expected)
    return float((differs / learnt) ** 0.5)


def long_spec(make_spec: MakeSpec, **sections: Any) -> RunSpec:
    """A run that goes on until it is stopped, since how many batches pass during a resize depends on the machine."""
    return make_spec(
        **{
            "num_batches": 10_000,
            "checkpoint": {"every_num_batches": None},
            "evaluation": {"every_num_batches": None},
            "pipeline": {"deterministic": True},
            "batch": {"fragment_size": 2, "num_minibatches": 2},
        }
        | sections
    )


def pause(driven: Driven, num_batches: int) -> None:
    """Pause the run once it has reported `num_batches`; few more are trained before that takes effect."""
    driven.until_batch(num_batches)
    driven.command(f"pause-{num_batches}", "pause")
    driven.until(lambda: driven.states()[-1] == "paused")


def train_and_pause(driven: Driven) -> None:
    """Let a paused run train a batch or a few more."""
    num_batches = max(driven.reported_batches())
    driven.command(f"resume-{num_batches}", "resume")
    driven.until(lambda: driven.states()[-1] == "running")
    pause(driven, num_batches + 1)


@pytest.mark.slow
def test_rollout_and_reward_lanes_come_and_go_without_changing_a_bit_of_the_weights(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    spec = long_spec(make_spec)
    driven = drive(spec, ("tests.engine.ray.real_gpu_lanes",))
    driven.until_batch(1)
    resize(driven, "r1", add=[granted("rollout-1", "rollout"), granted("reward-1", "reward")])
    assert steps(outcome(driven, "r1")) == {"rollout-1": "joined", "reward-1": "joined"}
    assert roles(driven) == {
        "rollout-0": "rollout",
        "trainer-0": "trainer",
        "reward-0": "reward",
        "rollout-1": "rollout",
        "reward-1": "reward",
    }
    driven.until_another_batch()
    resize(driven, "swap", change={"rollout-0": "reward", "reward-0": "rollout"})
    assert outcome(driven, "swap")["state"] == "done"
    assert (roles(driven)["rollout-0"], roles(driven)["reward-0"]) == ("reward", "rollout")
    driven.until_another_batch()
    old = driven.pids()
    resize(driven, "r2", release=["rollout-0", "reward-0"])
    assert steps(outcome(driven, "r2")) == {"rollout-0": "released", "reward-0": "released"}
    # Ray ends processes a moment after it was told to.
    driven.until(lambda: not any(is_alive(old[lane]) for lane in ("rollout-0", "reward-0")))
    resize(driven, "r3", release=["reward-1"], change={"rollout-1": "reward"})
    refused = outcome(driven, "r3")
    assert refused["state"] == "failed"
    assert refused["reason"] == "the run must keep at least 1 rollout lane, got 0: release or change fewer"
    resize(driven, "r4", add=[granted("rollout-2", "rollout", gpus=[0])])
    unusable = outcome(driven, "r4")
    assert steps(unusable) == {"rollout-2": "given_up"}
    assert "lane `rollout-2` was granted an accelerator but torch finds none" in unusable["reason"]
    driven.until_another_batch()
    driven.command("c1", "stop")
    assert driven.finish() == 0

    answers = {done["command_id"]: done["accepted"] for done in driven.ingest.of_type("command_done")}
    assert answers == {"r1": True, "swap": True, "r2": True, "r3": False, "r4": False, "c1": True}
    assert [report["state"] for report in reports(driven, "r2")][-1] == "done"
    found = published(driven)
    assert found == local_versions(spec, tiny_checkpoint, max(found))
    seen = {span["cause"] for event in driven.ingest.of_type("spans") for span in event["spans"]}
    assert "failure" not in seen
    check_tiling(driven)


def is_gone(pid: int) -> bool:
    return not is_alive(pid)


MAX_LOANS = 12
"""Loans within which one ends amid a fragment: a lane generates for a good part of its time."""


@pytest.mark.slow
def test_lanes_given_back_amid_a_fragment_change_no_bit_of_the_weights(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    """Borrowed lanes are asked back without any seconds to finish in, until one has dropped a fragment."""
    spec = long_spec(make_spec, sampling={"num_denoising_steps": 12})
    driven = drive(spec)
    driven.until_batch(1)
    num_dropped, num_loans = 0, 0
    while not num_dropped and num_loans < MAX_LOANS:
        num_loans += 1
        lane = f"rollout-{num_loans}"
        resize(driven, f"borrow-{num_loans}", add=[granted(lane, "rollout")], cause="borrow")
        assert steps(outcome(driven, f"borrow-{num_loans}")) == {lane: "joined"}
        driven.until_another_batch()
        pid = driven.pids()[lane]
        resize(driven, f"back-{num_loans}", release=[lane], cause="reclaim", within_seconds=0.0)
        given_back = outcome(driven, f"back-{num_loans}")
        assert steps(given_back) == {lane: "released"}
        driven.until(partial(is_gone, pid))
        num_dropped += given_back["lanes"][0]["num_dropped"]
    assert num_dropped, f"none of {num_loans} lanes was amid a fragment when it was given back"
    driven.until_another_batch()
    driven.command("c1", "stop")
    assert driven.finish() == 0

    found = published(driven)
    assert found == local_versions(spec, tiny_checkpoint, max(found))
    assert not driven.ingest.of_type("resumed"), "no batch was repeated"
    check_tiling(driven)


@pytest.mark.slow
def test_trainer_ranks_come_and_go_and_what_is_learnt_changes_by_float_reordering_alone(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None, tmp_path: Path
) -> None:
    """1 → 2 → 1 ranks; the second comes from the pool, and goes to rollout."""
    # Several micro-batches each, so that two ranks add them up in another order than one. Batches are long, so that few
    # are trained: differences grow from batch to batch, since later trajectories are drawn by the weights.
    spec = long_spec(
        make_spec,
        batch={"group_size": 8, "fragment_size": 4, "num_minibatches": 2, "micro_batch_size": 1},
        sampling={"num_denoising_steps": 8},
    )
    driven = drive(spec)
    pause(driven, 1)
    old = driven.pids()
    resize(driven, "r1", add=[granted("trainer-1", "trainer")])
    grown = outcome(driven, "r1")
    assert (grown["state"], steps(grown)) == ("done", {"trainer-1": "joined"})
    assert all(seconds > 0 for seconds in grown["trainer_seconds"].values())
    assert driven.pids()["rollout-0"] == old["rollout-0"], "rollout lanes live on"
    assert driven.pids()["trainer-0"] != old["trainer-0"]
    train_and_pause(driven)
    resize(driven, "r2", change={"trainer-0": "rollout"})
    assert (outcome(driven, "r2")["state"], roles(driven)["trainer-0"]) == ("done", "rollout")
    train_and_pause(driven)
    driven.command("c1", "stop")
    assert driven.finish() == 0

    assert driven.states()[-2:] == ["stopping", "stopped"]
    assert not driven.ingest.of_type("resumed"), "no batch was repeated"
    num_batches = max(driven.reported_batches())
    assert set(published(driven)) == set(range(num_batches + 1))
    assert all(gate["passed"] for gate in driven.ingest.of_type("gate"))
    kinds = {cost["kind"] for cost in driven.ingest.of_type("costs")[-1]["costs"] if cost["lane"] == "gang"}
    assert {"checkpoint", "start", "restore"} <= kinds
    check_tiling(driven)
    local = LocalRun(spec, tiny_checkpoint)
    start = exported(local, tmp_path / "start")
    for _ in range(num_batches):
        local.train_batch()
    undisturbed = exported(local, tmp_path / "end")
    distance = relative_distance(final_adapter(driven), undisturbed, start)
    print(f"{num_batches} batches: relative distance of what was learnt {distance:.1e}")
    assert distance < MAX_REORDERING


COLOCATED = {"pipeline": {"placement": "colocated"}, "lanes": {"num_rollout": 0}}


@pytest.mark.parametrize(
    "sections",
    [
        pytest.param(COLOCATED, id="colocated"),
        pytest.param(
            {
                "pipeline": {"max_staleness": 1, "importance_cap": 2.0, "tag": "greedy"},
                "deepspeed": {"config": "zero1"},
            },
            id="ahead-lending",
        ),
        pytest.param(COLOCATED | {"deepspeed": {"config": "zero3"}}, id="colocated-sharded"),
    ],
)
@pytest.mark.slow
def test_the_gang_grows_between_batches_and_shrinks_in_a_pause_in_other_modes(
    drive: Drive, make_spec: MakeSpec, sections: dict[str, Any]
) -> None:
    driven = drive(long_spec(make_spec, **sections))
    driven.until_batch(1)
    resize(driven, "r1", add=[granted("trainer-1", "trainer")])
    assert outcome(driven, "r1")["state"] == "done"
    pause(driven, max(driven.reported_batches()) + 1)
    resize(driven, "r2", release=["trainer-0"])
    assert outcome(driven, "r2")["state"] == "done"
    assert [lane for lane, role in roles(driven).items() if role == "trainer"] == ["trainer-1"]
    train_and_pause(driven)
    driven.command("c1", "stop")
    assert driven.finish() == 0
    assert driven.states()[-2:] == ["stopping", "stopped"]
    assert set(published(driven)) == set(range(max(driven.reported_batches()) + 1))
    assert all(gate["passed"] for gate in driven.ingest.of_type("gate"))
    spans = [span for event in driven.ingest.of_type("spans") for span in event["spans"]]
    assert "trainer-0" in {span["lane"] for span in spans if span["cause"] == "resize"}
    assert {(span["lane"], span["rank"]) for span in spans if span["kind"] == "train"} == {
        ("trainer-0", 0),
        ("trainer-1", 1),
        ("trainer-1", 0),
    }
    check_tiling(driven)


HELD_LANES = ("tests.engine.ray.held_lanes",)
"""A driver whose lanes `rollout-1` and `trainer-1` never finish loading."""


def held_amid_a_change(driven: Driven) -> int:
    """Ask for a second trainer lane, which is held, so that the new gang never loads; the pid of its process, once the
    old gang has ended and the checkpoint of the change is reported."""
    driven.until_batch(1)
    old = driven.pids()["trainer-0"]
    num_checkpoints = len(driven.ingest.of_type("checkpoint"))
    resize(driven, "r1", add=[granted("trainer-1", "trainer")])
    driven.until(lambda: len(driven.ingest.of_type("checkpoint")) > num_checkpoints and not is_alive(old))
    return driven.pids()["trainer-1"]


@pytest.mark.slow
def test_a_lane_killed_amid_a_trainer_change_is_given_up_and_the_old_gang_goes_on(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    """Before it, a lane that is killed while it loads is given up alone, and a trainer lane that cannot load."""
    spec = long_spec(make_spec)
    driven = drive(spec, HELD_LANES)
    driven.until_batch(1)
    resize(driven, "r0", add=[granted("rollout-1", "rollout")])
    driven.until(lambda: "rollout-1" in roles(driven))
    os.kill(driven.pids()["rollout-1"], signal.SIGKILL)
    given_up = outcome(driven, "r0")
    assert (given_up["state"], steps(given_up)) == ("failed", {"rollout-1": "given_up"})
    resize(driven, "r00", add=[granted("trainer-2", "trainer", gpus=[0])])
    unusable = outcome(driven, "r00")
    assert steps(unusable) == {"trainer-2": "given_up"}
    assert "lane `trainer-2` was granted an accelerator but torch finds none" in unusable["reason"]
    driven.until_another_batch()
    os.kill(held_amid_a_change(driven), signal.SIGKILL)
    failed = outcome(driven, "r1")
    assert (failed["state"], steps(failed)) == ("failed", {"trainer-1": "given_up"})
    assert "trainer-1" in failed["reason"]
    driven.until_another_batch()
    assert set(roles(driven)) == {"rollout-0", "trainer-0", "reward-0"}
    driven.command("c1", "stop")
    assert driven.finish() == 0

    resumed = [event["batch"] for event in driven.ingest.of_type("resumed")]
    assert resumed == [event["batch"] for event in driven.ingest.of_type("checkpoint")][:2], "no batch was lost"
    answers = {done["command_id"]: done["accepted"] for done in driven.ingest.of_type("command_done")}
    assert answers == {"r0": False, "r00": False, "r1": False, "c1": True}
    found = published(driven)
    assert found == local_versions(spec, tiny_checkpoint, max(found))
    check_tiling(driven)


@pytest.mark.slow
def test_a_driver_killed_amid_a_trainer_change_leaves_no_process_and_a_checkpoint_to_go_on_from(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    spec = long_spec(make_spec)
    driven = drive(spec, HELD_LANES)
    alive = [held_amid_a_change(driven), driven.pids()["rollout-0"], driven.pids()["reward-0"]]
    driven.kill()
    deadline = time.monotonic() + 60
    while any(map(is_alive, alive)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, alive)), "Ray ends the lanes of a driver that is gone"
    checkpoint, known = driven.ingest.of_type("checkpoint")[-1], published(driven)
    driven.ingest.events.clear()
    driven.ingest.commands.clear()
    num_batches = checkpoint["batch"] + 2
    again = drive(spec.model_copy(update={"num_batches": num_batches}), resume_from=checkpoint["uri"], attempt=2)
    assert again.finish() == 0
    assert again.states() == ["running", "completed"]
    assert known | published(again) == local_versions(spec, tiny_checkpoint, num_batches)


@pytest.mark.slow
def test_a_gang_of_the_same_lanes_is_loaded_anew_and_nothing_learnt_changes(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    """As a plan does that lends trainer lanes which were not loaded for it."""
    spec = long_spec(make_spec)
    driven = drive(spec)
    driven.until_batch(1)
    before = driven.pids()
    resize(driven, "r1", change={"trainer-0": "trainer"}, cause="plan")
    done = outcome(driven, "r1")
    assert (done["state"], steps(done)) == ("done", {"trainer-0": "joined"})
    assert done["trainer_seconds"] is not None
    assert driven.pids()["trainer-0"] != before["trainer-0"]
    assert driven.pids()["rollout-0"] == before["rollout-0"]
    pause(driven, max(driven.reported_batches()) + 1)
    driven.command("stop", "stop")
    assert driven.finish() == 0
    found = published(driven)
    assert found == local_versions(spec, tiny_checkpoint, max(found))
