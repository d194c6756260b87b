"""What a driver's token may not have stored, since nobody could read it, or what it names is not the run's."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs.checkpoint_files import checkpoints_url
from worker.contracts.base import MAX_TEXT_CHARS
from worker.contracts.ingest import EVENTS_PATH

pytestmark = pytest.mark.django_db
Make = Callable[..., dict[str, Any]]

METRICS = {"type": "metrics", "batch": 1, "optimizer_step": 1, "values": {"loss": 1.0}}
SPAN = {"lane": "a", "kind": "train", "start": 1, "end": 2}
GROUP = {"prompt_index": 0, "mean_reward": 1.0, "reward_std": 0.0, "has_spread": False}
SAMPLE = {
    **{"prompt": "a", "prompt_id": "a", "prompt_index": 0, "member": 0, "seed": 2**64 - 1, "artifact": "a/b.png"},
    **{"rewards": {}, "reward": 1.0},
}
SAMPLES = {"type": "samples", "purpose": "train", "batch": 1, "policy_version": 0}
FILE = {"path": "lora.safetensors", "sha256": "a" * 64, "num_bytes": 9}
ADAPTER = {
    **{"type": "adapter", "batch": 1, "policy_version": 1, "artifact": "v1/lora.safetensors", "sha256": "a" * 64},
    **{"num_bytes": 9, "final": False, "files": [FILE]},
}
CHECKPOINT = {"type": "checkpoint", "batch": 1, "policy_version": 1, "optimizer_step": 4, "num_bytes": 9}


def post(driver: Any, text: str) -> Any:
    path = EVENTS_PATH.format(run=driver.run_id, attempt=driver.attempt)
    headers = {"Authorization": f"Bearer {driver.token}"}
    return Client().post(path, text, content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({**METRICS, "batch": 2**31}, "batch"),
        ({**METRICS, "optimizer_step": 10**30}, "optimizer_step"),
        ({**METRICS, "values": {"loss": 1e300}}, "values.loss"),
        ({**METRICS, "values": {"x" * 129: 1.0}}, f"values.{'x' * 129}.[key]"),
        ({**METRICS, "at": 1e300}, "at"),
        ({"type": "spans", "spans": [{**SPAN, "lane": "x" * 65}]}, "spans.0.lane"),
        ({"type": "spans", "spans": [{**SPAN, "rank": 2**15}]}, "spans.0.rank"),
        ({"type": "spans", "spans": [{**SPAN, "end": 1e11}]}, "spans.0.end"),
        ({"type": "spans", "spans": [{**SPAN, "kind": "sleep"}]}, "spans.0.kind"),
        ({**SAMPLES, "samples": [{**SAMPLE, "seed": 2**64}]}, "samples.0.seed"),
        ({**SAMPLES, "samples": [{**SAMPLE, "artifact": "../../a.png"}]}, "samples.0.artifact"),
        ({**SAMPLES, "samples": [{**SAMPLE, "artifact": "a" * 301}]}, "samples.0.artifact"),
        ({"type": "groups", "batch": 1, "groups": [{**GROUP, "prompt_index": 3}]}, "groups.0.prompt_index"),
        ({**ADAPTER, "artifact": "/etc/lora.safetensors"}, "artifact"),
        ({**ADAPTER, "sha256": "x", "files": [{**FILE, "sha256": "x"}]}, "sha256"),
        ({**ADAPTER, "num_bytes": 2**63, "files": [{**FILE, "num_bytes": 2**63}]}, "num_bytes"),
        ({**CHECKPOINT, "uri": "http://169.254.169.254/latest/batch-000001"}, "uri"),
        ({**CHECKPOINT, "uri": "file:///etc/passwd"}, "uri"),
        ({**CHECKPOINT, "uri": "FOLDER/../../other/attempt-1/batch-000001"}, "uri"),
        ({**CHECKPOINT, "uri": "FOLDER/passwd"}, "uri"),
        ({"type": "staleness", "batch": 1, "counts": {"0": 2**63}}, "counts.0"),
    ],
)
def test_what_cannot_be_stored_or_is_not_the_runs_is_refused_by_field(
    driver: Any, event: dict[str, Any], field: str
) -> None:
    text = json.dumps({"events": [{"seq": 1, "at": 1.0, **event}]})
    answer = post(driver, text.replace("FOLDER", checkpoints_url(driver.run_id, 1)))
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json"), answer.content
    assert (answer.json()["seq"], answer.json()["field"]) == (1, field)
    assert driver.items == []


@pytest.mark.parametrize(
    "event", [METRICS, {**SAMPLES, "samples": [SAMPLE]}, ADAPTER, {**CHECKPOINT, "uri": "FOLDER/batch-000001"}]
)
def test_the_same_without_the_fault_is_stored(driver: Any, event: dict[str, Any]) -> None:
    text = json.dumps({"events": [{"seq": 1, "at": 1.0, **event}]})
    answer = post(driver, text.replace("FOLDER", checkpoints_url(driver.run_id, 1)))
    assert answer.status_code == 200, answer.content


def test_a_log_line_that_is_too_long_is_cut_in_the_middle_and_not_refused(driver: Any, event: Make) -> None:
    line = "begin" + "x" * 2 * MAX_TEXT_CHARS + "end"
    assert post(driver, json.dumps({"events": [event(1, message=line)]})).status_code == 200
    stored = driver.items[0]["body"]["message"]
    assert len(stored) <= MAX_TEXT_CHARS
    assert stored.startswith("beginx") and stored.endswith("xend") and "…" in stored


@pytest.mark.parametrize(
    "text",
    [
        '{"events": [{"seq": %s}]}' % ("9" * 5000),
        '{"events": [{"seq": 1, "at": 1e999}]}',
        '{"events": [{"seq": 1, "at": NaN}]}',
        '{"events": [{"seq": 1, "\\ud800": 1}]}',
        '{"events": %s}' % ("[" * 100_000),
        '{"events": [{"seq": 1, "at": 1, "type": "log", "level": "info", "source": "a", "message": "\\udfff"}]}',
    ],
    ids=lambda text: text[:40],
)
def test_json_that_others_cannot_read_is_refused(driver: Any, text: str) -> None:
    assert post(driver, text).status_code == 422
