"""Rows for the samples, adapters and checkpoints in events, written inside the ingest's transaction."""

import json

from gallery.models import Adapter, CheckpointRecord, Sample
from telemetry.bulk_copy import copy_rows
from telemetry.ingest.handlers import EventContext, register
from worker.contracts.events import AdapterEvent, CheckpointEvent, SamplesEvent

SAMPLE_COLUMNS = ("prompt", "prompt_id", "prompt_index", "member", "seed", "reward", "advantage", "staleness", "lane")
"""Of a sample's row, as its event has them."""


def register_all() -> None:
    register("samples", record_samples)
    register("adapter", record_adapter)
    register("checkpoint", record_checkpoint)


def record_samples(context: EventContext, event: SamplesEvent) -> None:
    of_event = (context.run_id, context.attempt, context.stream_seq, event.purpose, event.batch, event.policy_version)
    rows = (
        (
            *of_event,
            *(getattr(sample, column) for column in SAMPLE_COLUMNS),
            json.dumps(sample.rewards),
            json.dumps(sample.missing),
            sample.artifact,
            sample.poster,
        )
        for sample in event.samples
    )
    columns = ("run_id", "attempt", "stream_seq", "purpose", "batch", "policy_version", *SAMPLE_COLUMNS)
    copy_rows(Sample, (*columns, "rewards", "missing", "artifact_path", "poster_path"), rows)


def record_adapter(context: EventContext, event: AdapterEvent) -> None:
    """One row for each artifact path. A repeated event updates it, since the version may have become the final one."""
    fields = event.model_dump(include={"batch", "policy_version", "sha256", "num_bytes", "final", "files"})
    Adapter.objects.update_or_create(
        run_id=context.run_id,
        attempt=context.attempt,
        artifact_path=event.artifact,
        defaults={"stream_seq": context.stream_seq, "at": event.at, **fields},
    )


def record_checkpoint(context: EventContext, event: CheckpointEvent) -> None:
    """One row for each URI: a checkpoint that is requested twice between two batches is overwritten."""
    fields = event.model_dump(include={"batch", "policy_version", "optimizer_step", "num_bytes"})
    CheckpointRecord.objects.update_or_create(
        run_id=context.run_id,
        attempt=context.attempt,
        uri=event.uri,
        defaults={"stream_seq": context.stream_seq, "at": event.at, **fields},
    )
