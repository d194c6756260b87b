"""Runs on real Ray with real tiny models. Each run serves many claims, since starting lanes takes most time."""

import gzip
import itertools
import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load

from tests.engine.driving import LANE_RESOURCES, Driven, grants
from worker.contracts.ingest import SCHEDULE_LOG_FOLDER
from worker.contracts.names import TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.contracts.spans import Span
from worker.engine.local import LocalRun
from worker.scheduling.replay.log_replay import Replay
from worker.scheduling.replay.schedule_log import parse_line

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


def losses(driven: Driven) -> dict[tuple[int, int], float]:
    """The loss by (batch, optimizer step); of a step that was taken again after a rewind, the last one."""
    metrics = driven.ingest.of_type("metrics")
    return {
        (event["batch"], event["optimizer_step"]): event["values"]["policy/loss"]
        for event in metrics
        if "policy/loss" in event["values"]
    }


def published(driven: Driven) -> dict[int, str]:
    """The checksum of each published version."""
    return {event["policy_version"]: event["sha256"] for event in driven.ingest.of_type("publish")}


def shown_seeds(driven: Driven) -> dict[int, set[int]]:
    """The seeds of the samples shown, by batch."""
    return {
        event["batch"]: {sample["seed"] for sample in event["samples"]}
        for event in driven.ingest.of_type("samples")
        if event["purpose"] == "train"
    }


def replayed(driven: Driven) -> Replay:
    """The run's schedule log, replayed to the end; every action must be the recorded one."""
    artifacts = driven.ingest.artifacts
    parts = [gzip.decompress(artifacts[path]) for path in sorted(artifacts) if path.startswith(SCHEDULE_LOG_FOLDER)]
    replay = Replay()
    for line in b"".join(parts).decode().splitlines():
        assert replay.step(parse_line(line)) is None
    return replay


def results(driven: Driven) -> dict[str, dict[Any, Any]]:
    return {"loss": losses(driven), "published": published(driven), "seeds": shown_seeds(driven)}


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    """The results of the uninterrupted run, which the others are compared with."""
    return {}


def test_an_uninterrupted_run_completes_and_reports_everything(
    drive: Drive, make_spec: MakeSpec, reference: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("checkpoints")
    driven = drive(reference_spec(make_spec, num_rollout=2), checkpoints=f"file://{store}")
    driven.until(lambda: 1 in driven.reported_batches())
    driven.ingest.is_unreachable = True
    time.sleep(2)
    driven.ingest.is_unreachable = False
    assert driven.finish() == 0

    ingest = driven.ingest
    assert [event["seq"] for event in ingest.events] == list(range(1, len(ingest.events) + 1))
    assert driven.states() == ["running", "completed"]
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
    assert sorted(path.name for path in store.iterdir()) == [f"batch-{n:06d}" for n in range(3, 7)]
    check_tiling(driven)
    assert replayed(driven).scheduler.state.batches_completed == NUM_BATCHES
    reference |= results(driven) | {"store": store}


def test_a_local_run_trains_bitwise_the_same_weights(
    make_spec: MakeSpec, tiny_checkpoint: str, process_group: None, reference: dict[str, Any]
) -> None:
    local = LocalRun(reference_spec(make_spec, num_rollout=2), tiny_checkpoint)
    versions = [local.trainer.version(0).sha256]
    for number in range(1, NUM_BATCHES + 1):
        local.train_batch()
        versions.append(local.trainer.version(number).sha256)
    assert dict(enumerate(versions)) == reference["published"]


def test_a_run_that_is_stopped_and_resumed_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, reference: dict[str, Any], tmp_path: Path
) -> None:
    spec = reference_spec(make_spec, num_rollout=2)
    stopped = drive(spec, checkpoints=f"file://{tmp_path}")
    stopped.until(lambda: 1 in stopped.reported_batches())
    stopped.command("c1", "stop")
    assert stopped.finish() == 0
    assert stopped.states() == ["running", "stopping", "stopped"]
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
    for name, found in results(resumed).items():
        assert before_the_stop[name] | found == reference[name], name


def check_tiling(driven: Driven) -> None:
    """The spans of each lane follow each other without gap or overlap."""
    spans_of: dict[str, list[Span]] = defaultdict(list)
    for event in driven.ingest.of_type("spans"):
        for document in event["spans"]:
            span = Span.model_validate(document)
            spans_of[span.lane].append(span)
    assert len(spans_of) == len(driven.ingest.of_type("lanes")[0]["lanes"])
    for spans in spans_of.values():
        assert all(abs(after.start - before.end) < 1e-5 for before, after in itertools.pairwise(spans))


def resume_reference(drive: Drive, spec: RunSpec, reference: dict[str, Any]) -> Driven:
    """Repeat the last three batches with other switches or other lanes than the uninterrupted run had."""
    return drive(spec, resume_from=f"file://{reference['store']}/batch-000003")


def check_against(driven: Driven, reference: dict[str, Any]) -> None:
    """The last three batches have the results of the uninterrupted run."""
    for name, found in results(driven).items():
        assert found == {key: reference[name][key] for key in found}, name
    assert {batch for batch, _ in losses(driven)} == {4, 5, 6}
    assert set(published(driven)) == {3, 4, 5, 6}
    check_tiling(driven)


def kinds(driven: Driven, lane: str) -> set[str]:
    """The kinds of spans that a lane has reported so far."""
    return {span["kind"] for event in driven.ingest.of_type("spans") for span in event["spans"] if span["lane"] == lane}


def test_a_lending_run_that_loses_lanes_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, reference: dict[str, Any]
) -> None:
    """A rollout lane and a reward lane are killed during a batch, then the trainer lane, which is lent when idle."""
    driven = resume_reference(drive, reference_spec(make_spec, num_rollout=1, tag="greedy"), reference)
    # Paused first, since a tiny batch ends before a lane could be stopped during it.
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    pids = [driven.pid(lane) for lane in ("rollout-0", "reward-0")]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    driven.command("c2", "resume")
    # Each of the two lanes then holds a fragment, and the trainer lane can only generate.
    driven.until(lambda: "lent_generate" in kinds(driven, "trainer-0"))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    driven.until(lambda: len(driven.ingest.of_type("lanes")) == 3)
    os.kill(driven.pid("trainer-0"), signal.SIGKILL)
    assert driven.finish() == 0

    assert driven.states()[-1] == "completed"
    resumed = driven.ingest.of_type("resumed")
    assert resumed[0]["batch"] == 3 and len(resumed) == 2
    assert {"switch", "pull", "lent_generate", "train"} <= kinds(driven, "trainer-0")
    lends = driven.ingest.of_type("lend")
    assert [lend["decision"] for lend in lends] == list(range(1, len(lends) + 1))
    assert {lane for lend in lends for lane in lend["lanes"]} == {"trainer-0"}
    check_against(driven, reference)
    replay = replayed(driven)
    assert replay.num_starts == 2, "the lost trainer rank led to a new scheduler"
    assert replay.num_actions > 0


@pytest.mark.parametrize(
    "pipeline",
    [
        pytest.param({"placement": "colocated"}, id="colocated"),
        pytest.param({"gap": False, "tsp": False}, id="plain", marks=pytest.mark.slow),
        pytest.param({"tag": "search"}, id="search", marks=pytest.mark.slow),
    ],
)
def test_every_mode_has_bitwise_the_results_of_an_uninterrupted_run(
    drive: Drive, make_spec: MakeSpec, reference: dict[str, Any], pipeline: dict[str, Any]
) -> None:
    num_rollout = 0 if "placement" in pipeline else 1
    driven = resume_reference(drive, reference_spec(make_spec, num_rollout, **pipeline), reference)
    assert driven.finish() == 0
    check_against(driven, reference)
    assert [event["batch"] for event in driven.ingest.of_type("evaluation")] == [6]
    if not num_rollout:
        assert len(driven.ingest.of_type("lanes")[0]["lanes"]) == 2
        assert {"switch", "pull", "generate", "decode", "train", "evaluate"} <= kinds(driven, "trainer-0")
        assert not driven.ingest.of_type("lend"), "colocated generation is no lending"


def test_at_staleness_one_a_resumed_run_has_bitwise_the_results_of_an_uninterrupted_one(
    drive: Drive, make_spec: MakeSpec, tmp_path: Path
) -> None:
    """The checkpoint also stores the older adapter, which generates the next batch. The resumed run lends too."""
    spec = make_spec(
        num_batches=3,
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
    assert stale == [{"0": 8}, {"1": 8}, {"1": 8}]
    shown = {
        event["batch"]: {sample["staleness"] for sample in event["samples"]}
        for event in ingest.of_type("samples")
        if event["purpose"] == "train"
    }
    assert shown == {1: {0}, 2: {1}, 3: {1}}
    assert [gate["passed"] for gate in ingest.of_type("gate")] == [True] * 3
    assert (tmp_path / "uninterrupted" / "batch-000001" / "behaviour-00000.safetensors").exists()
    check_tiling(uninterrupted)

    ingest.events.clear()
    spec = spec.model_copy(update={"pipeline": spec.pipeline.model_copy(update={"tag": TrainerAssist.GREEDY})})
    resumed = drive(
        spec, checkpoints=f"file://{tmp_path}/again", resume_from=f"file://{tmp_path}/uninterrupted/batch-000001"
    )
    assert resumed.finish() == 0
    for name, found in results(resumed).items():
        assert found and found == {key: expected[name][key] for key in found}, name
    assert {batch for batch, _ in losses(resumed)} == {2, 3}
    assert [event["counts"] for event in resumed.ingest.of_type("staleness")] == [{"1": 8}, {"1": 8}]


@pytest.mark.parametrize(
    ("pipeline", "stage"),
    [
        pytest.param({"tag": "greedy"}, 1, id="lending"),
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
    driven.until(lambda: 1 in driven.reported_batches())
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1] == "paused")
    driven.command("c2", "sample_now", prompts=["a green circle"])
    driven.command("c3", "checkpoint_now")
    driven.until(lambda: driven.answer_to("c2") is not None and driven.answer_to("c3") is not None)
    num_batches = max(driven.reported_batches())
    driven.command("c4", "pause")
    driven.command("c5", "resume")
    driven.until(lambda: max(driven.reported_batches()) > num_batches)
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
    assert {"pause", "switch", "train"} <= kinds(driven, "trainer-0") | kinds(driven, "trainer-1")
    assert {event["policy_version"] for event in driven.ingest.of_type("publish")} == set(range(num_batches + 1))
    check_tiling(driven)


def test_a_stop_that_takes_too_long_gives_up_the_batch_and_keeps_the_last_checkpoint(
    drive: Drive, make_spec: MakeSpec, tmp_path: Path
) -> None:
    # The rollout lane is frozen while the run is paused, so that the next batch is open when the stop arrives.
    spec = make_spec(num_batches=10_000, checkpoint={"every_num_batches": 1, "num_kept": 2})
    driven = drive(spec, checkpoints=f"file://{tmp_path}/kept", stop_seconds=1e-6)
    driven.until(lambda: bool(driven.ingest.of_type("checkpoint")))
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1] == "paused")
    pids = {info["lane"]: info["pid"] for info in driven.ingest.of_type("lanes")[-1]["lanes"]}
    os.kill(pids["rollout-0"], signal.SIGSTOP)
    driven.command("c2", "resume")
    driven.until(lambda: driven.states()[-1] == "running")
    driven.command("c3", "stop")
    assert driven.finish() == 0

    assert driven.states() == ["running", "paused", "running", "stopping", "stopped"]
    kept = driven.ingest.of_type("checkpoint")[-1]
    assert f"and was given up; the checkpoint {kept['uri']} stays" in driven.ingest.of_type("state")[-1]["reason"]
    assert Path(kept["uri"].removeprefix("file://")).is_dir()
    assert not any(event["final"] for event in driven.ingest.of_type("adapter"))
    assert not Path(f"/proc/{pids['rollout-0']}").exists()


def test_cancel_ends_a_run_at_once_and_frees_its_lanes(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(make_spec(num_batches=10_000))
    driven.until(lambda: bool(driven.ingest.of_type("lanes")))
    pids = [info["pid"] for info in driven.ingest.of_type("lanes")[0]["lanes"]]
    driven.command("c1", "cancel")
    assert driven.finish() == 0
    assert driven.states() == ["cancelled"]
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_fenced_attempt_ends_without_a_state_and_frees_its_lanes(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(make_spec(num_batches=10_000))
    driven.until(lambda: bool(driven.ingest.of_type("lanes")))
    pids = [info["pid"] for info in driven.ingest.of_type("lanes")[0]["lanes"]]
    driven.ingest.is_fenced = True
    assert driven.finish() == 0
    assert driven.states() == []
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_terminated_driver_frees_its_lanes_and_reports_no_state(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(make_spec(num_batches=10_000))
    driven.until(lambda: bool(driven.ingest.of_type("lanes")))
    pids = [info["pid"] for info in driven.ingest.of_type("lanes")[0]["lanes"]]
    driven.process.send_signal(signal.SIGTERM)
    assert driven.finish() == 128 + signal.SIGTERM
    assert driven.states() == []
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_run_that_cannot_begin_fails_with_the_reason(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(make_spec(num_batches=1, prompts={"inline": (), "prompt_set": "without-prompts"}))
    assert driven.finish() == 1
    failed = driven.ingest.of_type("state")[-1]
    assert failed["state"] == "failed"
    assert "`batch.num_prompts_per_batch` must be ≤ 0" in failed["reason"]
    assert "Traceback" in failed["details"]
