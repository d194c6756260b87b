"""Nightly sweep: the page's script makes it, waits for its end, and fetches what the best point trained."""

import hashlib
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Project, User
from gallery.artifacts import store_artifact
from runs.models import Run, Sweep
from sweeps.advance import advance_all
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.client.recipes.served_application import Served
from tests.web.gallery.conftest import LORA_PATH
from tests.web.sweeps.swept_runs import driven, runs_of, tell, train
from tests.web.valid_files import valid_file

pytestmark = pytest.mark.django_db


def upload_lora(run: Run, lora: bytes, adapter_event: Callable[..., dict[str, Any]]) -> None:
    digest = hashlib.sha256(lora).hexdigest()
    store_artifact(run_id=driven(run).pk, attempt=1, path=LORA_PATH, source=BytesIO(lora), sha256=digest)
    tell(run, adapter_event(LORA_PATH, sha256=digest, num_bytes=len(lora)))


def test_the_best_point_of_a_night_is_named_and_downloaded(
    served: Served,
    reader_as: Callable[..., Reader],
    adapter_event: Callable[..., dict[str, Any]],
    artifact_folder: Path,
    alice: User,
    project: Project,
) -> None:
    page, reader = read_page("nightly_sweep"), reader_as(alice, scopes=frozenset({"read", "run"}))
    reader.fill_in(page)
    (dry_run,) = page.pasted
    assert "4 runs on " in reader.paste(dry_run)
    assert not Sweep.objects.exists()

    night = reader.begin_program(sys.executable, "my_night.py")
    served.wait_until(Sweep.objects.exists)
    with served.alone:
        sweep = Sweep.objects.get()
        advance_all()
        assert {run.run_spec.priority for run in runs_of(sweep)} == {"low"}
        for number, (run, reward) in enumerate(zip(runs_of(sweep), [0.3, 0.8, 0.5, 0.4], strict=True), start=1):
            upload_lora(run, valid_file(LORA_PATH, f"of point {number}".encode()), adapter_event)
            train(run, {20: reward}, ends="completed")
        advance_all()
    assert reader.end(night).startswith("0.800 with {")
    (file,) = reader.folder.glob("20*-*-*/*.safetensors")
    assert file.read_bytes() == valid_file(LORA_PATH, b"of point 2")
