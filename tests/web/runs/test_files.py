import uuid
from pathlib import Path

import pytest

from runs.files import RunStillExists, checkpoints_url, delete_checkpoints

pytestmark = pytest.mark.django_db


def test_each_attempt_writes_under_its_own_number(settings) -> None:
    settings.TANDEM_CHECKPOINTS = "s3://bucket/c/"
    run_id = uuid.uuid4()
    assert checkpoints_url(run_id, 2) == f"s3://bucket/c/{run_id}/attempt-2"


def test_checkpoints_of_a_run_that_exists_are_never_deleted(make_run, settings, tmp_path: Path) -> None:
    settings.TANDEM_CHECKPOINTS = f"file://{tmp_path}"
    run = make_run()
    folder = tmp_path / str(run.pk)
    folder.mkdir()
    with pytest.raises(RunStillExists):
        delete_checkpoints(run.pk)
    assert folder.exists()
    run.delete()
    delete_checkpoints(run.pk)
    assert not folder.exists()
