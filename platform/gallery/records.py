"""Rows for the samples, adapters and checkpoints in events, written inside the ingest's transaction."""

from gallery.models import Adapter, CheckpointRecord, Sample
from telemetry.ingest.handlers import EventContext, register
from worker.contracts.events import AdapterEvent, CheckpointEvent, SamplesEvent


def register_all() -> None:
    register("samples", record_samples)
    register("adapter", record_adapter)
    register("checkpoint", record_checkpoint)


def record_samples(context: EventContext, event: SamplesEvent) -> None:
    Sample.objects.bulk_create(
        Sample(
            run_id=context.run_id,
            attempt=context.attempt,
            stream_seq=context.stream_seq,
            purpose=event.purpose,
            batch=event.batch,
            policy_version=event.policy_version,
            artifact_path=sample.artifact,
            poster_path=sample.poster,
            **sample.model_dump(exclude={"artifact", "poster"}),
        )
        for sample in event.samples
    )


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
