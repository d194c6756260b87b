"""Below `/api/ingest/v1/`: see `worker.contracts.ingest` and `worker.contracts.previews`."""

from django.urls import path

from gallery import ingest_views, preview_views

urlpatterns = [
    path("runs/<uuid:run_id>/attempts/<int:attempt>/artifacts/<path:path>", ingest_views.artifact),
    path("runs/<uuid:run_id>/attempts/<int:attempt>/artifacts", ingest_views.artifacts),
    path("previews/bootstrap", preview_views.bootstrap),
    path("previews/<uuid:preview_id>/files/<path:path>", preview_views.file),
    path("previews/<uuid:preview_id>/images/<str:name>", preview_views.image),
    path("previews/<uuid:preview_id>/done", preview_views.done),
]
