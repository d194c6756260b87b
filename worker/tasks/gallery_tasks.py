"""Tasks of the gallery. They may be delivered twice: what they call decides from the database."""

from uuid import UUID

from celery import shared_task

from gallery.try_jobs import launch, watch
from runs.cluster import RayCluster
from worker.contracts import task_names


@shared_task(name=task_names.TRY_PROMPTS)
def try_prompts(try_id: str) -> bool:
    return launch(try_id=UUID(try_id), gateway=RayCluster())


@shared_task(name=task_names.WATCH_TRIES)
def watch_tries() -> None:
    watch(gateway=RayCluster())
