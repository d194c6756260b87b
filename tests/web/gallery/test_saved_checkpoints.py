"""Checkpoints as readers see them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from gallery.checkpoints import checkpoints, fork_point
from gallery.models import CheckpointRecord
from runs.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def saved(run: Run, report: Callable[..., None], tmp_path: Path, settings: Any) -> Run:
    """A run with checkpoints of batches 1 and 2, of which that of batch 1 was removed; batch 2 was evaluated."""
    settings.TANDEM_CHECKPOINTS = f"file://{tmp_path}"
    (tmp_path / str(run.pk) / "attempt-1" / "batch-000002").mkdir(parents=True)
    events: list[dict[str, Any]] = []
    for batch in (1, 2):
        uri = f"file://{tmp_path}/{run.pk}/attempt-1/batch-{batch:06d}"
        place = {"batch": batch, "optimizer_step": 4 * batch}
        events += [
            {"type": "metrics", **place, "values": {"reward/mean": 0.25 * batch}},
            {"type": "checkpoint", **place, "policy_version": batch, "uri": uri, "num_bytes": 9},
        ]
    report(*events, {"type": "metrics", "batch": 2, "optimizer_step": 8, "values": {"eval/reward": 0.75}})
    return run


def test_checkpoints_say_whether_they_are_kept_and_how_good_they_are(saved: Run) -> None:
    found = checkpoints(saved)
    shown = [(row["batch"], row["is_kept"], row["training_reward"], row["held_out_reward"]) for row in found]
    assert shown == [(2, True, 0.5, 0.75), (1, False, 0.25, None)]
    assert found[0]["num_bytes"] == 9


def test_a_store_that_does_not_answer_leaves_it_open_what_is_kept(saved: Run, tmp_path: Path) -> None:
    # A file where a folder is expected: `NotADirectoryError`.
    (tmp_path / "file").write_text("")
    CheckpointRecord.objects.filter(batch=1).update(uri=f"file://{tmp_path}/file/below/batch-000001")
    assert [row["is_kept"] for row in checkpoints(saved)] == [None, None]


def test_a_run_is_forked_from_checkpoints_of_its_own_parent_alone(saved: Run, make_run: Callable[..., Run]) -> None:
    newest = checkpoints(saved)[0]
    point = fork_point(saved, newest["id"])
    assert (point.parent, point.uri, point.batch, point.policy_version) == (saved, newest["uri"], 2, 2)
    with pytest.raises(ValidationError, match="must be the id of a checkpoint of other"):
        fork_point(make_run(name="other"), newest["id"])
