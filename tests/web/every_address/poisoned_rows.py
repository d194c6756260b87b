"""Rows of a run that no ingest would store any more, written to the database beside it: what older versions took, what
an admin's hand or a defect may leave."""

import itertools
from collections.abc import Iterator
from typing import Any

from django.db import models

from gallery.models import Adapter, CheckpointRecord, Sample
from runs.models import Run, RunLogEntry
from telemetry.models import (
    GroupOutcomeRow,
    LaneStateRollup,
    LaneTime,
    MetricPoint,
    MetricRollup,
    SpanRow,
    StreamItem,
)
from telemetry.stream_items import EVENT_TYPES

NUMBERS = (float("nan"), float("inf"), float("-inf"), 1e300, -1e300)
BODIES: tuple[Any, ...] = ([], "x", 3, {}, {"lanes": None}, {"lanes": ["x", {}, None]}, {"costs": [{}]}, {"x": 1e300})

SCORES: tuple[Any, ...] = ([], "x", {"x": "y"}, {"x": 1e308})
FILES: tuple[Any, ...] = ([], {}, "x", [3], [{"path": "../x"}], [{"path": "a", "sha256": "x", "num_bytes": -1}])


def poison(run: Run) -> None:
    """Write the rows."""
    for row in [*_items(run), *_telemetry(run), *_gallery(run)]:
        row.save(force_insert=True)


def _items(run: Run) -> Iterator[models.Model]:
    numbers = itertools.count(1000)
    for kind, body in itertools.product([*sorted(EVENT_TYPES), "unknown"], BODIES):
        number = next(numbers)
        yield StreamItem(
            run=run, stream_seq=number, attempt=2, seq=number, type=kind, at=NUMBERS[number % 5], body=body
        )
    for number, level in zip(range(5000, 5006), ["loud", "", "error", "info", "warning", "debug"], strict=True):
        yield RunLogEntry(
            **{"run": run, "stream_seq": number, "attempt": 2, "at": NUMBERS[number % 5], "type": "log"},
            **{"level": level, "source": "x" * 300, "text": "\ufffd" * 300},
        )


def _telemetry(run: Run) -> Iterator[models.Model]:
    of_run: dict[str, Any] = {"run": run, "attempt": 2}
    for index, number in enumerate(NUMBERS):
        seq = 6000 + index
        point = {**of_run, "stream_seq": seq, "optimizer_step": index, "batch": index + 1}
        for key in ("reward/mean", "x" * 128, "speed/batch_seconds"):
            yield MetricPoint(**point, key=key, at=number, value=1.0)
            yield MetricPoint(**point, key=key, at=1.0, value=number)
        rollup = {"level": 0, "bucket": index, "first_step": index, "last_step": index, "last_batch": 1, "count": 1}
        yield MetricRollup(**of_run, **rollup, key="reward/mean", last_at=number, min=number, max=number, mean=number)
        yield SpanRow(**of_run, stream_seq=seq, lane="rollout-0", kind="generate", start=1.0, end=number, batch=0)
        yield SpanRow(**of_run, stream_seq=seq, lane="x", kind="unknown", cause="unknown", start=number, end=number)
        yield LaneTime(**of_run, lane=f"x-{index}", kind="x", seconds=number, first_start=number, last_end=number)
        yield LaneStateRollup(run=run, level=0, bucket=index, role="x", kind="x", seconds=number)
        yield LaneStateRollup(run=run, level=6, bucket=2**62 + index, role="rollout", kind="generate", seconds=1.0)
        outcome = {**of_run, "batch": 1, "prompt_index": 2**31 - 1 - index, "has_spread": True}
        none: dict[str, int] = dict.fromkeys(("num_dropped_draws", "num_missing", "num_repeated_fragments"), 0)
        yield GroupOutcomeRow(**outcome, **none, mean_reward=number, reward_std=number)


def _gallery(run: Run) -> Iterator[models.Model]:
    for index, number in enumerate(NUMBERS):
        of_run: dict[str, Any] = {"run": run, "attempt": 2, "stream_seq": 7000 + index, "batch": 1, "policy_version": 1}
        sample = {**of_run, "purpose": "train", "prompt_id": "x", "prompt_index": 2**31 - 1, "member": 0, "seed": 0}
        for rewards in SCORES:
            yield Sample(**sample, prompt="x", reward=number, rewards=rewards, missing=rewards, artifact_path="../x")
        for files in FILES:
            yield Adapter(**of_run, artifact_path="../" * 50, sha256="", num_bytes=2**62, files=files, at=number)
        for uri in (
            "",
            "x",
            "http://127.0.0.1:1/x",
            "nothing://x/y",
            "file:///etc/passwd",
            "\x7f" * 300,
            "file://" + "/a" * 3000,
        ):
            yield CheckpointRecord(**of_run, optimizer_step=1, uri=uri, num_bytes=1, at=number)
