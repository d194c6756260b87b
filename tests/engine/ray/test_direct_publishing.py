"""Versions that are broadcast to the rollout lanes, on real Ray: the same weights as through the object store."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.engine.driving import Driven
from tests.engine.ray.local_versions import local_versions
from tests.engine.ray.reported import check_tiling, losses, published
from worker.contracts.run_spec import RunSpec
from worker.engine.sync.broadcast_plan import READY_SECONDS

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]
NUM_BATCHES = 6
MAX_STOPS = 8
"""A lane is amid a call half of the time."""


def direct_spec(make_spec: MakeSpec, *, num_batches: int = NUM_BATCHES, **pipeline: Any) -> RunSpec:
    return make_spec(
        num_batches=num_batches,
        pipeline={"deterministic": True, "publishing": "direct"} | pipeline,
        batch={"fragment_size": 2, "num_epochs_per_batch": 2, "num_minibatches": 2},
        evaluation={"every_num_batches": None, "num_samples_per_prompt": 2},
        lanes={"num_rollout": 2},
    )


def pulls(driven: Driven) -> tuple[int, int]:
    """Lanes that bound a version from its broadcast, over all versions, and lanes that it missed."""
    events = driven.ingest.of_type("publish")
    return sum(event["num_direct"] for event in events), sum(event["num_missed"] for event in events)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process does nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def messages(driven: Driven, part: str) -> list[str]:
    return [event["message"] for event in driven.ingest.of_type("log") if part in event["message"]]


def test_a_run_that_broadcasts_trains_bitwise_what_the_store_brings(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    spec = direct_spec(make_spec, num_batches=3)
    driven = drive(spec)
    assert driven.finish() == 0
    assert published(driven) == local_versions(spec, tiny_checkpoint, 3)
    direct, missed = pulls(driven)
    # The first version may come before a lane has loaded; all others have two lanes each.
    assert direct >= 6 and missed == 0
    assert messages(driven, "versions are broadcast from trainer-0 to rollout-0, rollout-1")
    check_tiling(driven)


@pytest.mark.slow
@pytest.mark.parametrize("sections", [{"max_staleness": 1}, {"max_staleness": 1, "tag": "greedy"}, {"tag": "greedy"}])
def test_staleness_and_lending_work_beside_broadcasts(
    drive: Drive, make_spec: MakeSpec, sections: dict[str, Any]
) -> None:
    driven = drive(direct_spec(make_spec, **sections))
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    assert all(gate["passed"] for gate in driven.ingest.of_type("gate"))
    assert set(published(driven)) == set(range(NUM_BATCHES + 1))
    assert pulls(driven)[0] >= NUM_BATCHES


@pytest.mark.slow
def test_a_lane_that_is_killed_holds_nothing_up_and_comes_back_to_the_broadcasts(
    drive: Drive, make_spec: MakeSpec, tiny_checkpoint: str, process_group: None
) -> None:
    spec = direct_spec(make_spec, num_batches=12)
    driven = drive(spec)
    driven.until_batch(2)
    os.kill(driven.pids()["rollout-1"], signal.SIGKILL)
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    assert published(driven) == local_versions(spec, tiny_checkpoint, 12)
    assert len(losses(driven)) == 12 * 4
    plans = messages(driven, "versions are broadcast from")
    assert len(plans) >= 2
    assert pulls(driven)[0] >= 12


@pytest.mark.slow
def test_a_lane_that_is_stopped_misses_broadcasts_and_the_run_goes_on(drive: Drive, make_spec: MakeSpec) -> None:
    driven = drive(direct_spec(make_spec, num_batches=200))
    driven.until_batch(2)
    for _ in range(MAX_STOPS):
        # A lane that is stopped amid a call lets no batch end, so no version is broadcast: tried again.
        pid = driven.pids()["rollout-1"]
        with stopped(pid):
            if driven.holds_within(lambda: bool(messages(driven, "was not there within")), READY_SECONDS + 5):
                break
    else:
        pytest.fail(f"the lane was amid a call each of {MAX_STOPS} times")
    driven.command("c1", "stop")
    assert driven.finish() == 0
    assert set(published(driven)) == set(range(max(driven.reported_batches()) + 1))


@pytest.mark.slow
def test_all_weights_are_broadcast_by_all_ranks(drive: Drive, make_spec: MakeSpec) -> None:
    spec = make_spec(
        tuning="full",
        base_model={"dtype": "bf16"},
        num_batches=3,
        deepspeed={"config": "zero3"},
        pipeline={"publishing": "direct"},
        lanes={"num_rollout": 1, "num_trainer": 2},
        ema={"decay": 0.5, "every_num_optimizer_steps": 1},
        evaluation={"every_num_batches": 1},
    )
    driven = drive(spec, program=("tests.engine.ray.small_shards",))
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    assert len(set(published(driven).values())) == 4
    direct, missed = pulls(driven)
    assert direct >= 3 and missed == 0
    assert messages(driven, "versions are broadcast from trainer-0, trainer-1 to rollout-0")
    (adapter,) = driven.ingest.of_type("adapter")
    assert adapter["final"] and adapter["policy_version"] == 3
