"""Below `/api/ingest/v1/`: see `worker.contracts.ingest` and `worker.contracts.tries`."""

from django.urls import path

from gallery import ingest_views, try_views

urlpatterns = [
    path("runs/<uuid:run_id>/attempts/<int:attempt>/artifacts/<path:path>", ingest_views.artifact),
    path("tries/bootstrap", try_views.bootstrap),
    path("tries/<uuid:try_id>/files/<path:path>", try_views.file),
    path("tries/<uuid:try_id>/images/<str:name>", try_views.image),
    path("tries/<uuid:try_id>/done", try_views.done),
]
