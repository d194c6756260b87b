import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from runs.checkpoint_files import RunStillExists, checkpoints_url, delete_checkpoints
from runs.models import Run

pytestmark = pytest.mark.django_db


def test_each_attempt_writes_under_its_own_number(settings: Settings) -> None:
    settings.TANDEM_CHECKPOINTS = "s3://bucket/c/"
    run_id = uuid.uuid4()
    assert checkpoints_url(run_id, 2) == f"s3://bucket/c/{run_id}/attempt-2"


def test_checkpoints_of_a_run_that_exists_are_never_deleted(
    make_run: Callable[..., Run], settings: Settings, tmp_path: Path
) -> None:
    settings.TANDEM_CHECKPOINTS = f"file://{tmp_path}"
    run = make_run()
    run_id = run.pk
    folder = tmp_path / str(run_id)
    folder.mkdir()
    with pytest.raises(RunStillExists):
        delete_checkpoints(run_id)
    assert folder.exists()
    run.delete()
    delete_checkpoints(run_id)
    assert not folder.exists()
