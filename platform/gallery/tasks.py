"""Celery tasks of the gallery: thin and idempotent, since they may be delivered twice or late."""

from uuid import UUID

from celery import shared_task

from gallery import artifacts
from gallery.preview_jobs import launch, watch
from runs.cluster import RayCluster
from worker.contracts import task_names


@shared_task(name=task_names.LAUNCH_PREVIEW)
def launch_preview(preview_id: str) -> bool:
    return launch(preview_id=UUID(preview_id), gateway=RayCluster())


@shared_task(name=task_names.WATCH_PREVIEWS)
def watch_previews() -> None:
    watch(gateway=RayCluster())


@shared_task(name=task_names.DELETE_ARTIFACTS)
def delete_artifacts(run_id: str) -> None:
    artifacts.delete_run_artifacts(run_id)
