"""Events become pictures, adapters and checkpoints."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.secrets import hash_secret
from gallery import selectors
from gallery.checkpoints import checkpoints
from gallery.models import Adapter, CheckpointRecord, Sample
from runs.checkpoint_files import checkpoints_url
from runs.models import Attempt, Run
from telemetry.ingest.ingest import ingest
from worker.contracts.adapter_files import AdapterFile, listing_sha256
from worker.contracts.ingest import IngestBatch

pytestmark = pytest.mark.django_db


def samples_event(batch: int, members: int = 2, purpose: str = "train") -> dict[str, Any]:
    samples = [
        {
            "prompt": "a red square",
            "prompt_id": "red-square",
            "prompt_index": 0,
            "member": member,
            "seed": 2**63 + member,
            "artifact": f"samples/{purpose}-{batch}-{member}.png",
            "rewards": {"shape_match": 0.5},
            "missing": {"ocr": "no text is asked for"},
            "reward": 0.5,
            "advantage": -1.0 if purpose == "train" else None,
            "lane": "rollout-0",
        }
        for member in range(members)
    ]
    return {"type": "samples", "purpose": purpose, "batch": batch, "policy_version": batch, "samples": samples}


def test_samples_keep_seed_rewards_and_where_their_bytes_are(run: Run, report: Callable[..., None]) -> None:
    report(samples_event(0), samples_event(1, purpose="evaluate"))
    assert Sample.objects.count() == 4
    first = selectors.samples(run.pk, batches=[0])[0]
    assert int(first.seed) == 2**63
    assert (first.rewards, first.artifact_path) == ({"shape_match": 0.5}, "samples/train-0-0.png")
    assert first.missing == {"ocr": "no text is asked for"}
    assert selectors.sample_batches(run.pk) == [0, 1]
    assert selectors.sample_batches(run.pk, "evaluate") == [1]


def test_of_a_batch_generated_twice_the_newer_attempt_is_shown(run: Run, report: Callable[..., None]) -> None:
    report(samples_event(1, members=4))
    Attempt.objects.update(ended_at=timezone.now())
    Attempt.objects.create(run=run, number=2, token_hash=hash_secret("second"))
    Run.objects.update(attempt=2)
    batch = IngestBatch(events=({"seq": 1, "at": 1.0, **samples_event(1, members=2)},))
    ingest(run_id=run.pk, attempt=2, token="second", batch=batch)
    assert [sample.attempt for sample in selectors.samples(run.pk)] == [2, 2]


def test_adapters_and_checkpoints_are_listed_newest_first(
    run: Run, report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    checkpoint = {"type": "checkpoint", "policy_version": 1, "optimizer_step": 4, "num_bytes": 9}
    folder = checkpoints_url(run.pk, 1)
    report(
        adapter_event(path="adapters/v1/pytorch_lora_weights.safetensors", batch=1, final=False),
        {**checkpoint, "batch": 1, "uri": f"{folder}/batch-000001"},
        {**checkpoint, "batch": 2, "uri": f"{folder}/batch-000002"},
        adapter_event(batch=2),
    )
    assert [adapter.batch for adapter in selectors.adapters(run.pk)] == [2, 1]
    assert [checkpoint["batch"] for checkpoint in checkpoints(run)] == [2, 1]
    assert Run.objects.get().resume_from == f"{folder}/batch-000002"


def test_a_version_reported_twice_is_one_row_and_final_once_reported_so(
    run: Run, report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    uri = f"{checkpoints_url(run.pk, 1)}/batch-000002"
    checkpoint = {"type": "checkpoint", "batch": 2, "policy_version": 2, "optimizer_step": 4, "uri": uri}
    report(
        adapter_event(path="adapters/v1/pytorch_lora_weights.safetensors", batch=1, final=False),
        adapter_event(final=False),
        {**checkpoint, "num_bytes": 8},
        adapter_event(final=True),
        {**checkpoint, "num_bytes": 9},
    )
    assert [(adapter.batch, adapter.final) for adapter in selectors.adapters(run.pk)] == [(2, True), (1, False)]
    assert [row["num_bytes"] for row in checkpoints(run)] == [9]


def test_a_version_in_several_files_keeps_them(
    run: Run, report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    files = (
        AdapterFile(path="transformer/config.json", sha256="b" * 64, num_bytes=2),
        AdapterFile(path="transformer/1.safetensors", sha256="c" * 64, num_bytes=40),
    )
    fields = {"sha256": listing_sha256(files), "num_bytes": 42, "files": [file.model_dump() for file in files]}
    report(adapter_event(), adapter_event("adapters/v2", **fields))
    whole, lora = selectors.adapters(run.pk)
    assert (whole.all_files, whole.is_lora) == (files, False)
    assert whole.artifact_of(files[0]) == "adapters/v2/transformer/config.json"
    assert lora.is_lora
    assert [lora.artifact_of(file) for file in lora.all_files] == [lora.artifact_path]


def test_everything_goes_with_the_run(
    run: Run, report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    report(samples_event(0), adapter_event())
    run.delete()
    assert not Sample.objects.exists()
    assert not Adapter.objects.exists()
    assert not CheckpointRecord.objects.exists()
