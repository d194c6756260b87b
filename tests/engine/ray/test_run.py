"""Runs on real Ray with real tiny models. Each run serves many claims, since starting lanes takes most time."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load

from tests.engine.driving import LANE_RESOURCES, Driven, bootstrap_answer, grants, is_alive, start_driver
from tests.engine.ray.local_versions import local_versions
from tests.engine.ray.reported import check_tiling, kinds, losses, published, replayed, results, shown_seeds
from tests.engine.telemetry.ingest_server import start_ingest
from worker.contracts.ingest import RunOrigin
from worker.contracts.names import TrainerAssist
from worker.contracts.run_spec import RunSpec

# Several actors import torch at once, which takes seconds on an idle machine and minutes on a busy one.
pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]

NUM_BATCHES = 6


def reference_spec(make_spec: MakeSpec, num_rollout: int, **pipeline: Any) -> RunSpec:
    return make_spec(
        num_batches=NUM_BATCHES,
        pipeline={"deterministic": True} | pipeline,
        batch={"fragment_size": 2, "num_epochs_per_batch": 2, "num_minibatches": 2},
        evaluation={"every_num_batches": 3, "num_samples_per_prompt": 2},
        checkpoint={"every_num_batches": 1, "num_kept": 4},
        lanes={"num_rollout": num_rollout},
    )


@dataclass(frozen=True)
class Reference:
    """The uninterrupted run, which the others are compared with."""

    driven: Driven
    exit_status: int
    store: Path
    """The folder of its checkpoints."""


@pytest.fixture(scope="module")
def reference(
    make_spec: MakeSpec, ray_address: str, tiny_checkpoint: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reference]:
    """An uninterrupted run during which the web is unreachable for a while."""
    store = tmp_path_factory.mktemp("checkpoints")
    ingest, server = start_ingest()
    driven = start_driver(
        ingest, bootstrap_answer(reference_spec(make_spec, num_rollout=2), tiny_checkpoint, store), ray_address
    )
    try:
        driven.until_batch(1)
        ingest.is_unreachable = True
        time.sleep(2)
        ingest.is_unreachable = False
        yield Reference(driven, driven.finish(), store)
    finally:
        driven.kill()
        server.shutdown()
        server.server_close()


def test_an_uninterrupted_run_completes_and_reports_everything(reference: Reference) -> None:
    driven = reference.driven
    assert reference.exit_status == 0
    ingest = driven.ingest
    assert [event["seq"] for event in ingest.events] == list(range(1, len(ingest.events) + 1))
    assert driven.states() == ["running", "completed"]
    for lane in ("rollout-0", "rollout-1", "trainer-0", "reward-0"):
        steps = [event["step"] for event in ingest.of_type("lane_start") if lane in event["lanes"]]
        assert steps == ["requested", "placed", "loading", "ready"], lane
    assert driven.reported_batches() == set(range(1, NUM_BATCHES + 1))
    assert len(losses(driven)) == NUM_BATCHES * 4
    assert [event["batch"] for event in ingest.of_type("evaluation")] == [0, 3, 6]
    assert all(gate["passed"] for gate in ingest.of_type("gate")) and len(ingest.of_type("gate")) == NUM_BATCHES
    assert set(published(driven)) == set(range(NUM_BATCHES + 1))
    assert {event["counts"]["0"] for event in ingest.of_type("staleness")} == {8}
    assert {len(seeds) for seeds in shown_seeds(driven).values()} == {8}

    shown = {sample["artifact"] for event in ingest.of_type("samples") for sample in event["samples"]}
    final = next(event for event in ingest.of_type("adapter") if event["final"])
    assert shown | {final["artifact"]} <= set(ingest.artifacts)
    assert all(ingest.artifacts[path].startswith(b"\x89PNG") for path in shown)
    assert load(ingest.artifacts[final["artifact"]])
    assert sorted(path.name for path in reference.store.iterdir()) == [f"batch-{n:06d}" for n in range(3, 7)]
    check_tiling(driven)
    assert replayed(driven).scheduler.state.batches_completed == NUM_BATCHES


def test_a_local_run_trains_bitwise_the_same_weights(
    make_spec: MakeSpec, tiny_checkpoint: str, process_group: None, reference: Reference
) -> None:
    versions = local_versions(reference_spec(make_spec, num_rollout=2), tiny_checkpoint, NUM_BATCHES)
    assert versions == published(reference.driven)


def test_a_run_that_is_stopped_and_resumed_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, reference: Reference, tmp_path: Path
) -> None:
    spec = reference_spec(make_spec, num_rollout=2)
    stopped = drive(spec, checkpoints=f"file://{tmp_path}")
    # A lane is frozen while the run is paused, so that a batch is open when the stop arrives.
    stopped.command("c1", "pause")
    stopped.until(lambda: stopped.states()[-1:] == ["paused"])
    frozen = stopped.pids()["rollout-0"]
    os.kill(frozen, signal.SIGSTOP)
    stopped.command("c2", "resume")
    stopped.until(lambda: stopped.states()[-1] == "running")
    stopped.command("c3", "stop")
    stopped.until(lambda: stopped.states()[-1] == "stopping")
    os.kill(frozen, signal.SIGCONT)
    assert stopped.finish() == 0
    assert stopped.states() == ["running", "paused", "running", "stopping", "stopped"]
    checkpoint = stopped.ingest.of_type("checkpoint")[-1]
    assert 1 <= checkpoint["batch"] < NUM_BATCHES
    reason = stopped.ingest.of_type("state")[-1]["reason"]
    assert reason == f"stopped after batch {checkpoint['batch']} of {NUM_BATCHES}"

    before_the_stop = results(stopped)
    stopped.ingest.events.clear()
    stopped.ingest.commands.clear()
    resumed = drive(spec, resume_from=checkpoint["uri"])
    assert resumed.finish() == 0
    assert resumed.states() == ["running", "completed"]
    expected = results(reference.driven)
    for name, found in results(resumed).items():
        assert before_the_stop[name] | found == expected[name], name


def resume_reference(drive: Drive, spec: RunSpec, reference: Reference) -> Driven:
    """Repeat the last three batches with other switches or other lanes than the uninterrupted run had."""
    return drive(spec, resume_from=f"file://{reference.store}/batch-000003")


@pytest.mark.slow
def test_a_fork_begins_with_bitwise_the_weights_of_its_checkpoint_and_an_evaluation(
    drive: Drive, make_spec: MakeSpec, reference: Reference, tmp_path: Path
) -> None:
    spec = reference_spec(make_spec, num_rollout=2)
    changed = {"optimizer": spec.optimizer.model_copy(update={"learning_rate": 1e-2}), "num_batches": 4}
    origin = RunOrigin(uri=f"file://{reference.store}/batch-000003", batch=3)
    evaluated_apart = {"evaluation": spec.evaluation.model_copy(update={"every_num_batches": 100})}
    fork = drive(
        spec.model_copy(update=changed | evaluated_apart),
        checkpoints=f"file://{tmp_path}/fork",
        resume_from=origin.uri,
        origin=origin,
    )
    assert fork.finish() == 0
    versions, expected = published(fork), published(reference.driven)
    assert set(versions) == {3, 4}
    assert versions[3] == expected[3]
    assert versions[4] != expected[4]
    assert [event["batch"] for event in fork.ingest.of_type("evaluation")] == [3, 4]
    assert [event["batch"] for event in fork.ingest.of_type("resumed")] == [3]
    assert (reference.store / "batch-000003").exists()


def check_against(driven: Driven, reference: Reference) -> None:
    """The last three batches have the results of the uninterrupted run."""
    expected = results(reference.driven)
    for name, found in results(driven).items():
        assert found == {key: expected[name][key] for key in found}, name
    assert {batch for batch, _ in losses(driven)} == {4, 5, 6}
    assert set(published(driven)) == {3, 4, 5, 6}
    check_tiling(driven)


@pytest.mark.slow
def test_a_lending_run_that_loses_lanes_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, reference: Reference
) -> None:
    """A rollout lane and a reward lane are killed during a batch, while the trainer lane is lent, and then that one."""
    driven = resume_reference(drive, reference_spec(make_spec, num_rollout=1, tag="greedy"), reference)
    # Paused first, since a tiny batch ends before a lane could be stopped during it.
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    pids = [driven.pids()[lane] for lane in ("rollout-0", "reward-0")]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    driven.command("c2", "resume")
    # Each of the two lanes then holds a fragment, and the trainer lane can only generate.
    driven.until(lambda: "lent_generate" in kinds(driven, "trainer-0"))
    driven.command("c3", "pause")
    for pid in pids:
        # The driver may have ended a lane that did not answer.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    driven.until(lambda: len(driven.ingest.of_type("lanes")) == 3 and driven.states()[-1:] == ["paused"])
    os.kill(driven.pids()["trainer-0"], signal.SIGKILL)
    driven.command("c4", "resume")
    assert driven.finish() == 0

    assert driven.states()[-1] == "completed"
    resumed = driven.ingest.of_type("resumed")
    assert resumed[0]["batch"] == 3 and len(resumed) == 2
    assert {"pull", "lent_generate", "train"} <= kinds(driven, "trainer-0")
    lends = driven.ingest.of_type("lend")
    assert [lend["decision"] for lend in lends] == list(range(1, len(lends) + 1))
    assert {lane for lend in lends for lane in lend["lanes"]} == {"trainer-0"}
    check_against(driven, reference)
    replay = replayed(driven)
    assert replay.num_starts == 2, "the lost trainer rank led to a new scheduler"
    assert replay.num_actions > 0


@pytest.mark.slow
def test_a_run_whose_lanes_hang_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, reference: Reference
) -> None:
    """A process of each role is stopped for ever. Paused first, since a tiny batch ends before that could happen."""
    driven = resume_reference(drive, reference_spec(make_spec, num_rollout=1), reference)
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    stopped = [driven.pids()[lane] for lane in ("rollout-0", "reward-0", "trainer-0")]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    driven.command("c2", "resume")
    assert driven.finish() == 0

    assert driven.states()[-1] == "completed"
    assert not any(map(is_alive, stopped))
    events = driven.ingest.of_type("lane_stall")
    for lane in ("rollout-0", "reward-0", "trainer-0"):
        states = [event["state"] for event in events if event["lane"] == lane]
        assert states == ["silent", "hung"], lane
    waits = [event["at"] - event["since"] for event in events if event["state"] == "hung"]
    assert max(waits) < 60, "a process that is stopped is noticed within a minute"
    check_against(driven, reference)


@pytest.mark.parametrize(
    "pipeline",
    [
        pytest.param({"placement": "colocated"}, id="colocated", marks=pytest.mark.slow),
        pytest.param({"gap": False, "tsp": False}, id="plain", marks=pytest.mark.slow),
        pytest.param({"tag": "search"}, id="search", marks=pytest.mark.slow),
    ],
)
def test_every_mode_has_bitwise_the_results_of_an_uninterrupted_run(
    drive: Drive, make_spec: MakeSpec, reference: Reference, pipeline: dict[str, Any]
) -> None:
    num_rollout = 0 if "placement" in pipeline else 1
    driven = resume_reference(drive, reference_spec(make_spec, num_rollout, **pipeline), reference)
    assert driven.finish() == 0
    check_against(driven, reference)
    assert [event["batch"] for event in driven.ingest.of_type("evaluation")] == [6]
    if not num_rollout:
        assert len(driven.ingest.of_type("lanes")[0]["lanes"]) == 2
        assert {"pull", "generate", "decode", "train", "evaluate"} <= kinds(driven, "trainer-0")
        assert not driven.ingest.of_type("lend"), "colocated generation is no lending"


@pytest.mark.slow
def test_at_staleness_one_a_resumed_run_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, tmp_path: Path
) -> None:
    """The checkpoint also stores the older adapter, which generates the next batch. The resumed run lends too."""
    spec = make_spec(
        num_batches=4,
        pipeline={"deterministic": True, "max_staleness": 1, "importance_cap": 2.0},
        batch={"fragment_size": 2, "num_minibatches": 2},
        evaluation={"every_num_batches": None},
        checkpoint={"every_num_batches": 1, "num_kept": 4},
    )
    uninterrupted = drive(spec, checkpoints=f"file://{tmp_path}/uninterrupted")
    assert uninterrupted.finish() == 0
    expected = results(uninterrupted)
    ingest = uninterrupted.ingest
    stale = [event["counts"] for event in ingest.of_type("staleness")]
    # The second batch begins when the first evaluation has been drawn: before the second version is there, or after it.
    assert (stale[0], stale[2:]) == ({"0": 8}, [{"1": 8}, {"1": 8}])
    shown = {
        event["batch"]: {sample["staleness"] for sample in event["samples"]}
        for event in ingest.of_type("samples")
        if event["purpose"] == "train"
    }
    assert {batch: shown[batch] for batch in (1, 3, 4)} == {1: {0}, 3: {1}, 4: {1}}
    assert [gate["passed"] for gate in ingest.of_type("gate")] == [True] * 4
    assert (tmp_path / "uninterrupted" / "batch-000002" / "behaviour-00000.safetensors").exists()
    check_tiling(uninterrupted)

    ingest.events.clear()
    spec = spec.model_copy(update={"pipeline": spec.pipeline.model_copy(update={"tag": TrainerAssist.GREEDY})})
    resumed = drive(
        spec, checkpoints=f"file://{tmp_path}/again", resume_from=f"file://{tmp_path}/uninterrupted/batch-000002"
    )
    assert resumed.finish() == 0
    for name, found in results(resumed).items():
        assert found and found == {key: expected[name][key] for key in found}, name
    assert {batch for batch, _ in losses(resumed)} == {3, 4}
    assert [event["counts"] for event in resumed.ingest.of_type("staleness")] == [{"1": 8}, {"1": 8}]


@pytest.mark.slow
def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one_on_more_trainer_lanes_in_another_stage(
    drive: Drive, make_spec: MakeSpec, reference: Reference, tmp_path: Path
) -> None:
    store = tmp_path / "attempt-1"
    shutil.copytree(reference.store, store)
    damaged = store / "batch-000004"
    file = next(damaged.glob("rank-*.safetensors"))
    os.truncate(file, file.stat().st_size - 1)
    spec = make_spec(
        num_batches=5,
        lanes={"num_rollout": 1, "num_trainer": 2},
        deepspeed={"config": "zero2"},
        batch={"fragment_size": 2, "num_epochs_per_batch": 2, "num_minibatches": 2},
        evaluation={"every_num_batches": None},
    )
    lanes = [grant.model_copy(update={"resources": (LANE_RESOURCES[grant.lane],)}) for grant in grants(spec)]
    driven = drive(
        spec, lanes=lanes, resume_from=f"file://{damaged}", checkpoints=f"file://{tmp_path}/attempt-2", attempt=2
    )
    assert driven.finish() == 0
    (resumed,) = driven.ingest.of_type("resumed")
    assert (resumed["batch"], resumed["policy_version"], resumed["optimizer_step"]) == (3, 3, 12)
    warnings = [event["message"] for event in driven.ingest.of_type("log") if event["level"] == "warning"]
    assert any("passed over" in text and "batch-000004" in text and file.name in text for text in warnings)
    assert driven.states() == ["running", "completed"]
    assert published(driven)[3] == published(reference.driven)[3], (
        "two ranks in ZeRO 2 hold the weights of one in ZeRO 0"
    )
    assert {batch for batch, _ in losses(driven)} == {4, 5}
    assert (tmp_path / "attempt-2" / "batch-000005" / "manifest.json").exists()
