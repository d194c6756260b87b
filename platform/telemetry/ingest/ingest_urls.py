"""Below `/api/ingest/v1/`: see `worker.contracts.ingest`, `worker.contracts.node_reports` and
`worker.contracts.gpu_tests`."""

from django.urls import path

from telemetry.ingest import gpu_test_views, node_views
from telemetry.ingest.ingest_views import bootstrap, events, prompts

urlpatterns = [
    path("bootstrap", bootstrap),
    path("runs/<uuid:run_id>/attempts/<int:attempt>/prompts", prompts),
    path("runs/<uuid:run_id>/attempts/<int:attempt>/events", events),
    path("nodes/bootstrap", node_views.bootstrap),
    path("nodes/reports", node_views.reports),
    path("gpu-tests/bootstrap", gpu_test_views.bootstrap),
    path("gpu-tests/<uuid:test_id>/report", gpu_test_views.report),
]
