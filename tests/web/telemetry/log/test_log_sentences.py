from collections.abc import Callable
from typing import Any

import pytest

from runs.models import LogLevel
from telemetry.log.log_sentences import LogLine, log_line
from worker.contracts.events import run_event_adapter
from worker.contracts.memory_shortages import MemoryShortage
from worker.contracts.run_spec import RunSpec

SHA = "0" * 64
RESIZE = {
    "id": "r",
    "cause": "user",
    "lanes": [{"lane": "trainer-0", "role": None, "step": "released"}],
    "trainer_seconds": {"checkpoint": 2, "start": 20, "restore": 1},
}
CHANGE = {"change": 0.12, "standard_error": 0.01}
FALL = {"change": -0.2, "standard_error": 0.02}
HACKING = {
    "type": "reward_hacking",
    "batch": 40,
    "num_batches": 40,
    "monitored": "shape_judge",
    "optimised_change": CHANGE,
    "monitored_change": FALL,
}
STALL = {
    "type": "lane_stall",
    "at": 140.0,
    "lane": "rollout-0",
    "work": "generate",
    "since": 100.0,
    "limit_seconds": 120.0,
    "longest_seconds": 5.0,
    "stack": ["generate (rollout.py:9)", "wait (torch.py:8)"],
}
SHORT = MemoryShortage(
    work="generate 16 trajectories in one pass",
    asked_bytes=2 * 2**30,
    capacity_bytes=79 * 2**30,
    planned_bytes={"activations": 4 * 2**30, "weights": 70 * 2**30, "gradients": 0.0},
    remedy="in calls of 8 from now on",
)
STOOD_STILL = "rollout-0 made no progress to generate for 40 s (5 s at most so far)"
OVER = "over 40 batches the optimised reward changed by +0.12 ± 0.01, the monitored shape judge by −0.2 ± 0.02"


@pytest.fixture
def algebra(make_spec: Callable[..., RunSpec]) -> dict[str, Any]:
    return make_spec().algebra.model_dump(mode="json")


def line_of(**event: Any) -> LogLine | None:
    return log_line(run_event_adapter.validate_python({"seq": 1, "at": 1.0, **event}))


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        ({"type": "phase", "phase": "load_model", "detail": "new ranks"}, "info", "Phase: load model: new ranks"),
        (
            {"type": "out_of_memory", "lane": "rollout-0", "sentence": SHORT.sentence, "shortage": SHORT.model_dump()},
            "warning",
            "rollout-0 had no memory to generate 16 trajectories in one pass (it asked for 2.0 GiB more): in calls of "
            "8 from now on. The plan counts 74.0 GiB of 79.0 GiB: weights 70.0 GiB, activations 4.0 GiB.",
        ),
        ({"type": "state", "state": "running", "reason": "up"}, "debug", "The driver reports: running: up"),
        (
            {"type": "state", "state": "failed", "reason": "out of memory", "details": "Traceback"},
            "error",
            "The driver reports: failed: out of memory\nTraceback",
        ),
        (
            {"type": "resumed", "batch": 3, "policy_version": 3, "optimizer_step": 9},
            "info",
            "Resumed after batch 3, policy v3",
        ),
        (
            {"type": "samples", "purpose": "train", "batch": 2, "policy_version": 1, "samples": []},
            "debug",
            "0 samples of batch 2 (train, v1)",
        ),
        (
            {"type": "evaluation", "batch": 4, "policy_version": 4, "num_samples": 8, "values": {"clip_score": 0.25}},
            "info",
            "Held-out evaluation after batch 4: clip score 0.25",
        ),
        (
            {
                "type": "publish",
                "policy_version": 7,
                "num_bytes": 2048,
                "num_tensors": 3,
                "sha256": SHA,
                "seconds": 0.1,
            },
            "debug",
            "Published v7: 3 tensors, 2.0 KiB, 0.10 s",
        ),
        (
            {
                "type": "checkpoint",
                "batch": 5,
                "policy_version": 5,
                "optimizer_step": 20,
                "uri": "u",
                "num_bytes": 3 * 1024 * 1024,
            },
            "info",
            "Checkpoint after batch 5, 3.0 MiB",
        ),
        (
            {"type": "gate", "gate": "replay", "batch": 1, "passed": False, "values": {"mean_error": 0.5}},
            "error",
            "Replay gate of batch 1 FAILED: mean error 0.5",
        ),
        ({**HACKING, "suspected": True}, "warning", f"Reward hacking suspected: {OVER}"),
        ({**HACKING, "suspected": False}, "info", f"Reward hacking no longer suspected: {OVER}"),
        (
            {"type": "command_done", "command_id": "c", "accepted": False, "detail": "it has ended"},
            "warning",
            "Command refused: it has ended",
        ),
        (
            {"type": "lend", "decision": 1, "batch": 2, "lanes": ["trainer-0"], "num_fragments": 1},
            "debug",
            "trainer-0 lent to generation in batch 2",
        ),
        (
            {"type": "slow_lanes", "batch": 4, "lanes": {"trainer-1": 1.96, "rollout-0": 3}},
            "warning",
            "Far slower than usual for their kind, as measured: rollout-0 takes 3.0 × the time, trainer-1 takes 2.0 × "
            "the time",
        ),
        (
            {"type": "slow_lanes", "batch": 9, "lanes": {}},
            "info",
            "No lane is far slower than usual for its kind any more",
        ),
        ({"type": "lane_start", "step": "ready", "lanes": ["a", "b"]}, "debug", "a, b ready"),
        (
            {**STALL, "state": "slow"},
            "warning",
            "rollout-0 has made no progress to generate for 40 s (5 s at most so far): it is ended at 120 s; it is "
            "in wait (torch.py:8) ← generate (rollout.py:9)",
        ),
        ({**STALL, "state": "hung", "stack": []}, "error", f"{STOOD_STILL} and is ended"),
        ({**STALL, "state": "working", "stack": []}, "info", "rollout-0 goes on to generate"),
        ({"type": "software", "versions": {"torch": "2.13"}}, "debug", "torch 2.13"),
    ],
)
def test_each_event_has_its_severity_and_its_sentence(event: dict[str, Any], level: str, text: str) -> None:
    assert line_of(**event) == LogLine(LogLevel(level), text)


@pytest.mark.parametrize(
    ("state", "level", "verdict"), [("done", "info", "Resized"), ("failed", "error", "Resize failed")]
)
def test_a_resize_tells_of_each_lane_and_how_long_training_stood_still(
    algebra: dict[str, Any], state: str, level: str, verdict: str
) -> None:
    line = line_of(type="lanes", lanes=[], algebra=algebra, resize={**RESIZE, "state": state})
    assert line == LogLine(LogLevel(level), f"{verdict}: trainer-0 released, training stood still for 23.0 s")


def test_a_record_keeps_its_lane() -> None:
    line = line_of(type="log", level="warning", source="rollout-0", message="slow")
    assert line == LogLine(LogLevel.WARNING, "slow", "rollout-0")


def test_what_is_drawn_has_no_line() -> None:
    assert line_of(type="metrics", batch=1, optimizer_step=1, values={"policy/loss": 0.5}) is None
    assert line_of(type="spans", spans=[]) is None


def test_placed_lanes_are_named(algebra: dict[str, Any]) -> None:
    lane = {"lane": "rollout-0", "role": "rollout", "node": "a", "device": "cpu", "pid": 1}
    assert line_of(type="lanes", lanes=[lane], algebra=algebra) == LogLine(LogLevel.INFO, "1 lanes placed: rollout-0")
