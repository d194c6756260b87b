"""What a run made, fetched by `tandem.Client`: curves, samples, logs, events, adapters, the report."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gallery.models import Artifact
from runs.models import Run
from tandem import ChecksumMismatch, NotFound
from tandem.synchronous.client import Client
from tests.web.gallery.conftest import LORA, LORA_PATH
from tests.web.gallery.test_records import samples_event
from tests.web.valid_files import valid_file

pytestmark = pytest.mark.django_db
Put = Callable[..., Artifact]
Report = Callable[..., None]
ONE_CURVE = [
    {"type": "metrics", "batch": batch, "optimizer_step": batch, "values": {"reward/mean": batch / 10}}
    for batch in (1, 2)
]


def test_curves_become_one_table_by_step(client: Client, run: Run, report: Report) -> None:
    pandas = pytest.importorskip("pandas")
    report(*ONE_CURVE)
    table = client.runs.get(str(run.pk)).metrics(["reward/mean"])
    assert isinstance(table, pandas.DataFrame)
    assert table["reward/mean"].to_dict() == {1: 0.1, 2: 0.2}
    assert client.runs.get(str(run.pk)).curves(["policy/kl"]).series == {}


def test_logs_and_events_come_oldest_first_and_end(client: Client, run: Run, report: Report) -> None:
    lines = [{"type": "log", "level": "info", "source": "driver", "message": f"line {n}"} for n in range(3)]
    report(*lines)
    found = client.runs.get(str(run.pk))
    assert [entry.text for entry in found.logs(search="line")] == ["line 0", "line 1", "line 2"]
    numbers = [item["stream_seq"] for item in found.events()]
    assert numbers == sorted(numbers)
    assert len(numbers) == 3
    assert [item["stream_seq"] for item in found.events(numbers[1])] == numbers[2:]
    Run.objects.update(state="completed")
    assert len(list(found.logs(follow=True, search="line"))) == 3


def test_a_trained_version_is_downloaded_with_its_checksum_verified(
    client: Client, run: Run, put: Put, report: Report, adapter_event: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    digest = hashlib.sha256(LORA).hexdigest()
    put(LORA_PATH, LORA, is_valid=False)
    report(adapter_event(LORA_PATH, sha256=digest, num_bytes=len(LORA)))
    found = client.runs.get(str(run.pk))
    folder = found.download(path=tmp_path / "lora")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"pytorch_lora_weights.safetensors": LORA}
    with pytest.raises(NotFound, match=r"no trained version 7; it has: 2"):
        found.download(7)


def test_bytes_with_another_checksum_are_not_kept(client: Client, run: Run, put: Put, tmp_path: Path) -> None:
    put(LORA_PATH, LORA, is_valid=False)
    address = f"/api/v1/runs/{run.pk}/artifacts/{LORA_PATH}"
    with pytest.raises(ChecksumMismatch, match=r"announced was aaa"):
        client._session.download(address, tmp_path / "kept" / "w.safetensors", "a" * 64)
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_lora_is_loaded_into_a_pipeline_from_a_complete_folder(
    client: Client, run: Run, put: Put, report: Report, adapter_event: Callable[..., dict[str, Any]]
) -> None:
    class Pipeline:
        """As much of diffusers' as is called."""

        def load_lora_weights(self, folder: str) -> None:
            self.weights = (Path(folder) / "pytorch_lora_weights.safetensors").read_bytes()

    put(LORA_PATH, LORA, is_valid=False)
    report(adapter_event(LORA_PATH, sha256=hashlib.sha256(LORA).hexdigest(), num_bytes=len(LORA)))
    pipeline = Pipeline()
    client.runs.get(str(run.pk)).load_lora(pipeline)
    assert pipeline.weights == LORA


def test_pictures_of_a_batch_are_saved_by_prompt_and_member(
    client: Client, run: Run, put: Put, report: Report, tmp_path: Path
) -> None:
    event = samples_event(1)
    for sample in event["samples"]:
        put(sample["artifact"], b"pixels")
    report(event)
    saved = client.runs.get(str(run.pk)).save_samples(tmp_path / "pictures")
    assert [path.read_bytes() for path in saved] == [valid_file("a.png", b"pixels")] * len(event["samples"])
    assert len({path.name for path in saved}) == len(saved) > 1


def test_the_report_is_one_html_file(client: Client, run: Run, tmp_path: Path) -> None:
    page = client.runs.get(str(run.pk)).report(tmp_path / "report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert run.name in page
