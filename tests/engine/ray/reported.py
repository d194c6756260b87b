"""What a real driver has reported to the ingest server, in the form that tests compare."""

import gzip
import itertools
from collections import defaultdict
from typing import Any

from tests.engine.driving import Driven
from worker.contracts.ingest import SCHEDULE_LOG_FOLDER
from worker.contracts.spans import Span
from worker.scheduling.replay.log_replay import Replay
from worker.scheduling.replay.schedule_log import parse_line


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


def kinds(driven: Driven, lane: str) -> set[str]:
    """The kinds of spans that a lane has reported so far."""
    return {span["kind"] for event in driven.ingest.of_type("spans") for span in event["spans"] if span["lane"] == lane}


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
