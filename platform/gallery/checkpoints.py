"""A run's resumable checkpoints as readers see them: whether their files are there, and how good their weights are.

Callers get the run from `runs.selectors` first, which checks permission.
"""

from collections.abc import Mapping
from uuid import UUID

from django.core.exceptions import ValidationError
from pydantic import with_config
from typing_extensions import TypedDict

from gallery.models import CheckpointRecord
from runs.checkpoint_files import stored
from runs.forks import ForkPoint
from runs.models import CLOCK, Run
from telemetry.models import MetricPoint
from worker.contracts.metric_names import Metric


@with_config(use_attribute_docstrings=True)
class SavedCheckpoint(TypedDict):
    """A resumable checkpoint."""

    id: int
    attempt: int
    batch: int
    """Complete batches."""
    policy_version: int
    optimizer_step: int
    uri: str
    num_bytes: int
    created_at: float
    """Unix seconds."""
    is_kept: bool | None
    """Whether its files are still there: a driver keeps the newest few, and those that runs were forked from. Null
    where the checkpoint store does not answer."""
    training_reward: float | None
    """Mean training reward of the batch that it was written after."""
    held_out_reward: float | None
    """Held-out reward of its weights; null where they were not evaluated."""


def checkpoints(run: Run) -> list[SavedCheckpoint]:
    """Newest first; records of those whose files were removed stay."""
    rows = list(CheckpointRecord.objects.filter(run=run, at__range=CLOCK).order_by("-stream_seq"))
    kept = stored([row.uri for row in rows])
    rewards = {key: _by_batch(run.pk, key) for key in (Metric.REWARD_MEAN, Metric.EVAL_REWARD)}
    return [_saved(row, kept, rewards) for row in rows]


def fork_point(run: Run, checkpoint_id: int) -> ForkPoint:
    """The checkpoint of that id. Raises `ValidationError` by field where it is not one of the run."""
    row = CheckpointRecord.objects.filter(run=run, pk=checkpoint_id).first()
    if row is None:
        raise ValidationError(
            {"checkpoint": f"`checkpoint` must be the id of a checkpoint of {run.name}, got {checkpoint_id}"}
        )
    return ForkPoint(parent=run, uri=row.uri, batch=row.batch, policy_version=row.policy_version)


def _by_batch(run_id: UUID, key: Metric) -> dict[int, float]:
    points = MetricPoint.objects.filter(run_id=run_id, key=key.value).order_by("stream_seq")
    return dict(points.values_list("batch", "value"))


def _saved(
    row: CheckpointRecord, kept: set[str] | None, rewards: Mapping[Metric, Mapping[int, float]]
) -> SavedCheckpoint:
    return {
        "id": row.pk,
        "attempt": row.attempt,
        "batch": row.batch,
        "policy_version": row.policy_version,
        "optimizer_step": row.optimizer_step,
        "uri": row.uri,
        "num_bytes": row.num_bytes,
        "created_at": row.at,
        "is_kept": None if kept is None else row.uri in kept,
        "training_reward": rewards[Metric.REWARD_MEAN].get(row.batch),
        "held_out_reward": rewards[Metric.EVAL_REWARD].get(row.batch),
    }
