"""Below `/api/ingest/v1/`: see `worker.contracts.ingest`."""

from django.urls import path

from telemetry.ingest_views import bootstrap, events, prompts

urlpatterns = [
    path("bootstrap", bootstrap),
    path("runs/<uuid:run_id>/attempts/<int:attempt>/prompts", prompts),
    path("runs/<uuid:run_id>/attempts/<int:attempt>/events", events),
]
