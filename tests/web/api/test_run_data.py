"""A run's telemetry and files over REST, in the shapes the pages read."""

import gzip
import hashlib
import posixpath
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from accounts.secrets import hash_secret
from gallery.artifacts import store_artifact
from gallery.inline import MAX_INLINE_BYTES
from runs.checkpoint_files import checkpoints_url
from runs.models import Attempt, Run
from telemetry.arrow.arrow_stream import MEDIA_TYPE as ARROW
from telemetry.ingest.ingest import ingest
from telemetry.timeline.timeline_spans import TimelineSpan
from tests.web.valid_files import valid_file
from worker.contracts.ingest import IngestBatch

pytestmark = pytest.mark.django_db
LORA = "adapters/v1/pytorch_lora_weights.safetensors"
LORA_BYTES = valid_file(LORA, b"lora")
LARGE_PICTURE = valid_file("a.png", bytes(MAX_INLINE_BYTES + 1))


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project, tmp_path: Path, settings: Any) -> Run:
    """A run that reported one of everything."""
    settings.TANDEM_ARTIFACTS = f"file://{tmp_path}"
    made = make_run(project=project, state="running", attempt=1)
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now(), token_hash=hash_secret("t"))
    sample = {
        "prompt": "a red square",
        "prompt_id": "red-square",
        "prompt_index": 0,
        "member": 1,
        "seed": 2**60,
        "artifact": "samples/b1/0-1.png",
        "rewards": {"shape_match": 0.5},
        "reward": 0.5,
    }
    sha256 = hashlib.sha256(LORA_BYTES).hexdigest()
    events: list[dict[str, Any]] = [
        {"type": "phase", "phase": "train"},
        {"type": "metrics", "batch": 1, "optimizer_step": 4, "values": {"reward/mean": 0.5, "policy/kl": 0.1}},
        {"type": "spans", "spans": [{"lane": "driver", "kind": "publish", "start": 10, "end": 11}]},
        {"type": "samples", "purpose": "evaluate", "batch": 1, "policy_version": 1, "samples": [sample]},
        {"type": "staleness", "batch": 1, "counts": {"0": 4}},
        {"type": "log", "level": "warning", "source": "driver", "message": "slow"},
        {
            "type": "adapter",
            "batch": 1,
            "policy_version": 1,
            "artifact": LORA,
            "sha256": sha256,
            "num_bytes": len(LORA_BYTES),
            "files": [{"path": posixpath.basename(LORA), "sha256": sha256, "num_bytes": len(LORA_BYTES)}],
            "final": True,
        },
        {
            "type": "checkpoint",
            "batch": 1,
            "policy_version": 1,
            "optimizer_step": 4,
            "uri": f"{checkpoints_url(made.pk, 1)}/batch-000001",
            "num_bytes": 9,
        },
    ]
    numbered = tuple({"seq": seq, "at": 100.0 + seq, **event} for seq, event in enumerate(events, start=1))
    ingest(run_id=made.pk, attempt=1, token="t", batch=IngestBatch(events=numbered))
    for path, content in (("samples/b1/0-1.png", LARGE_PICTURE), (LORA, LORA_BYTES)):
        digest = hashlib.sha256(content).hexdigest()
        store_artifact(run_id=made.pk, attempt=1, path=path, source=BytesIO(content), sha256=digest)
    return made


def get(api: APIClient, run: Run, path: str, **query: Any) -> Any:
    response = api.get(f"/api/v1/runs/{run.pk}/{path}", query)
    assert response.status_code == 200, response.content
    return response.json()


def test_metrics(api: APIClient, run: Run) -> None:
    answer = get(api, run, "metrics", keys="reward/mean", max_points=10)
    point = {"batch": [1], "optimizer_step": [4], "at": [102.0], "value": [0.5], "min": [0.5], "max": [0.5]}
    assert answer == {"series": {"reward/mean": point}, "keys": ["policy/kl", "reward/mean"], "stream_seq": 8}
    assert set(get(api, run, "metrics")["series"]) == {"reward/mean", "policy/kl"}


def test_sparklines_are_of_the_runs_that_the_user_may_see(
    api: APIClient, run: Run, make_run: Callable[..., Run], client_of: Callable[..., APIClient], charlie: User
) -> None:
    address, ids = "/api/v1/runs:sparklines", {"ids": f"{run.pk},{make_run().pk}"}
    assert api.get(address, ids).json() == {"series": {str(run.pk): [0.5]}}
    assert api.get(address, {**ids, "key": "policy/kl"}).json() == {"series": {str(run.pk): [0.1]}}
    assert client_of(charlie).get(address, ids).json() == {"series": {}}
    other = api.get(address, {"ids": "first"}).json()["errors"]
    assert other == {"ids": ["`ids` must be ids of runs, separated by commas, got 'first'"]}
    many = api.get(address, {"ids": ",".join([str(run.pk)] * 201)})
    assert many.status_code == 400
    assert many.json()["errors"] == {"ids": ["`ids` must name ≤ 200 runs, got 201: ask in several requests"]}


def test_timeline_and_bubbles(api: APIClient, run: Run) -> None:
    answer = get(api, run, "timeline")
    span = {"lane": "driver", "kind": "publish", "start": 10.0, "end": 11.0}
    assert answer["spans"] == [TimelineSpan.model_validate(span).model_dump(mode="json")]
    assert answer["lanes"] == []
    assert set(answer) == {"lanes", "spans", "versions", "queues", "lends", "resizes", "plans", "stream_seq", "now"}
    assert get(api, run, "timeline", **{"from": 12})["spans"] == []
    assert get(api, run, "bubbles") == {
        "total_seconds": 1.0,
        "by_lane": {"driver": {"publish": 1.0}},
        "by_role": {"driver": {"publish": 1.0}},
        "by_class": {"publish": 1.0},
        "stream_seq": 8,
    }
    assert get(api, run, "bubbles", **{"from": 10.5})["total_seconds"] == 0.5
    assert get(api, run, "lending")["totals"]["num_decisions"] == 0


@pytest.mark.parametrize("query", [{"limit": 5}, {"from": "noon"}, {"limit": 10**6}])
def test_parameters_out_of_bounds_are_reported_by_field(api: APIClient, run: Run, query: dict[str, Any]) -> None:
    refused = api.get(f"/api/v1/runs/{run.pk}/timeline", query)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, list(query))


def test_staleness(api: APIClient, run: Run) -> None:
    column = {"first_batch": 1, "last_batch": 1, "num_batches": 1, "counts": {"0": 4}}
    assert get(api, run, "staleness")["columns"] == [column]
    assert get(api, run, "staleness", from_batch=2)["columns"] == []


def test_events_leave_out_what_has_an_address_of_its_own(api: APIClient, run: Run) -> None:
    types = [item["type"] for item in get(api, run, "events")["results"]]
    assert types == ["phase", "samples", "adapter", "checkpoint"]
    assert len(get(api, run, "events", types="all")["results"]) == 8
    assert [item["stream_seq"] for item in get(api, run, "events", types="log,metrics")["results"]] == [2, 6]


def test_events_page_forwards_and_backwards(api: APIClient, run: Run) -> None:
    page = get(api, run, "events", types="all", after_seq=2, limit=3)
    assert [item["stream_seq"] for item in page["results"]] == [3, 4, 5]
    assert [item["stream_seq"] for item in api.get(page["next"]).json()["results"]] == [6, 7, 8]
    newest = get(api, run, "events", types="all", limit=3)
    assert [item["stream_seq"] for item in newest["results"]] == [6, 7, 8]
    assert [item["stream_seq"] for item in api.get(newest["next"]).json()["results"]] == [3, 4, 5]


def test_the_log_has_records_and_events_on_one_axis(api: APIClient, run: Run) -> None:
    (entry,) = get(api, run, "logs", level="warning", search="slow")["results"]
    assert (entry["type"], entry["level"], entry["source"], entry["text"]) == ("log", "warning", "driver", "slow")
    entries = get(api, run, "logs")["results"]
    assert {"phase", "log", "samples", "adapter", "checkpoint"} <= {entry["type"] for entry in entries}
    page = get(api, run, "logs", limit=2)
    assert page["results"] == entries[:2]
    assert api.get(page["next"]).json()["results"] == entries[2:4]
    forward = get(api, run, "logs", after_seq=0, limit=2)
    assert forward["results"] == entries[::-1][:2]
    assert get(api, run, "logs", level="error") == {"next": None, "results": []}
    assert get(api, run, "logs/errors")["results"] == []


def test_the_log_is_downloaded_as_a_text(api: APIClient, run: Run) -> None:
    answer = api.get(f"/api/v1/runs/{run.pk}/logs/text", {"types": "log"})
    assert answer["Content-Disposition"].startswith("attachment; filename=")
    (line,) = answer.content.decode().splitlines()
    assert line.split() == ["1970-01-01T00:01:46.000Z", "warning", "driver", "slow"]


def test_samples_lead_to_their_bytes(api: APIClient, run: Run) -> None:
    answer = get(api, run, "samples", purpose="evaluate")
    assert answer["batches"] == [1]
    (sample,) = answer["results"]
    assert (sample["prompt"], sample["member"], sample["seed"], sample["reward"]) == (
        "a red square",
        1,
        str(2**60),
        0.5,
    )
    assert (sample["rewards"], sample["missing"]) == ({"shape_match": 0.5}, {})
    picture = api.get(sample["image_url"])
    assert picture.getvalue() == LARGE_PICTURE
    assert picture.headers["Content-Type"] == "image/png"
    assert "immutable" in picture.headers["Cache-Control"]
    assert "Content-Disposition" not in picture.headers
    again = api.get(sample["image_url"], headers={"If-None-Match": picture.headers["ETag"]})
    assert again.status_code == 304
    assert get(api, run, "samples", purpose="train") == {"batches": [], "groups": [], "results": []}


def test_adapters_are_saved_as_files(api: APIClient, run: Run) -> None:
    (adapter,) = get(api, run, "adapters")["results"]
    assert (adapter["final"], adapter["num_bytes"], adapter["created_at"]) == (True, len(LORA_BYTES), 107.0)
    saved = api.get(adapter["url"])
    assert saved.getvalue() == LORA_BYTES
    assert saved.headers["Content-Disposition"] == 'attachment; filename="pytorch_lora_weights.safetensors"'
    assert saved.headers["X-Content-Type-Options"] == "nosniff"


def test_a_version_is_one_archive_too(api: APIClient, run: Run) -> None:
    (adapter,) = get(api, run, "adapters")["results"]
    assert adapter["tuning"] == "lora"
    assert [(file["path"], file["url"]) for file in adapter["files"]] == [
        ("pytorch_lora_weights.safetensors", adapter["url"])
    ]
    saved = api.get(adapter["archive_url"])
    assert saved.headers["Content-Type"] == "application/x-tar"
    folder = f"{run.name.replace(' ', '_')}-v1"
    assert saved.headers["Content-Disposition"] == f'attachment; filename="{folder}.tar"'
    with tarfile.open(fileobj=BytesIO(saved.getvalue())) as tar:
        assert tar.getnames() == [f"{folder}/pytorch_lora_weights.safetensors"]
    assert adapter["folder"] == folder
    assert api.get(f"/api/v1/runs/{run.pk}/adapters/{adapter['id'] + 1}/archive").status_code == 404


def test_an_attempts_schedule_log_is_one_file_of_all_its_parts(api: APIClient, run: Run) -> None:
    address = f"/api/v1/runs/{run.pk}/schedule"
    assert api.get(address).status_code == 404
    for part, attempt in (("0001/000002", 1), ("0001/000001", 1), ("0002/000001", 1), ("0001/000001", 2)):
        content = gzip.compress(f"{attempt} {part}\n".encode())
        store_artifact(
            run_id=run.pk,
            attempt=attempt,
            path=f"schedule/{part}.jsonl.gz",
            source=BytesIO(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
    first = gzip.decompress(api.get(address, {"attempt": 1}).getvalue()).decode()
    assert first.splitlines() == ["1 0001/000001", "1 0001/000002", "1 0002/000001"]
    newest = api.get(address)
    assert gzip.decompress(newest.getvalue()) == b"2 0001/000001\n"
    assert newest.headers["Content-Disposition"] == f'attachment; filename="{run.pk}-2-schedule.jsonl.gz"'


def test_checkpoints(api: APIClient, run: Run) -> None:
    (checkpoint,) = get(api, run, "checkpoints")["results"]
    assert (checkpoint["uri"], checkpoint["optimizer_step"]) == (f"{checkpoints_url(run.pk, 1)}/batch-000001", 4)


def test_attempts(api: APIClient, run: Run) -> None:
    (attempt,) = get(api, run, "attempts")["results"]
    assert attempt["submission_id"] == f"tandem-{run.pk}-1"
    assert "token_hash" not in attempt


@pytest.mark.parametrize("path", ["samples/none.png", "../../secret-key", "samples/b1"])
def test_what_was_never_uploaded_is_not_found(api: APIClient, run: Run, path: str) -> None:
    assert api.get(f"/api/v1/runs/{run.pk}/artifacts/{path}").status_code == 404


def test_a_preview_is_asked_for_and_listed(api: APIClient, run: Run) -> None:
    asked = api.post(f"/api/v1/runs/{run.pk}/previews", {"prompts": ["a green triangle"], "num_samples": 2, "seed": 5})
    assert asked.status_code == 202
    (preview,) = get(api, run, "previews")
    assert (preview["id"], preview["state"], preview["prompts"]) == (
        asked.json()["preview_id"],
        "queued",
        ["a green triangle"],
    )
    assert (preview["samples"], preview["base_samples"]) == ([], [])


def test_what_a_run_reported_is_arrow_for_who_accepts_it(api: APIClient, run: Run) -> None:
    expected_of = {
        "metrics": ("value", [0.1, 0.5]),
        "timeline": ("kind", ["publish"]),
        "bubbles": ("class", ["publish"]),
    }
    for path, (column, expected) in expected_of.items():
        answer = api.get(f"/api/v1/runs/{run.pk}/{path}", HTTP_ACCEPT=ARROW, HTTP_ACCEPT_ENCODING="gzip")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, ARROW)
        assert "Content-Encoding" not in answer.headers
        table = pyarrow.ipc.open_stream(b"".join(answer.streaming_content)).read_all()
        assert table.column(column).to_pylist() == expected
        refused = api.get(f"/api/v1/runs/{run.pk}/{path}", {"fields": "stream_seq"}, HTTP_ACCEPT=ARROW)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, ["fields"])


def test_arrow_of_anothers_run_is_refused_as_problem(
    client_of: Callable[..., APIClient], run: Run, charlie: User
) -> None:
    for path in ("metrics", "timeline", "bubbles"):
        answer = client_of(charlie).get(f"/api/v1/runs/{run.pk}/{path}", HTTP_ACCEPT=ARROW)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
