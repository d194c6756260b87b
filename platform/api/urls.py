"""Addresses of REST v1, below `/api/v1/`."""

from typing import Any

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from api.views import (
    accounts,
    analysis,
    audit,
    budgets,
    catalog,
    docs,
    gallery,
    gpu_tests,
    gpus,
    health,
    home,
    lends,
    occupancy,
    pool,
    pools,
    queue,
    run_fragments,
    run_history,
    run_lists,
    run_logs,
    run_size,
    runs,
    telemetry,
    usage,
    waiting_run,
)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("tokens", accounts.TokenViewSet, basename="token")
router.register("users", accounts.UserViewSet, basename="user")
router.register("projects", accounts.ProjectViewSet, basename="project")
router.register("prompt-sets", catalog.PromptSetViewSet, basename="prompt-set")
router.register("secrets", catalog.SecretViewSet, basename="secret")
router.register("runs", runs.RunViewSet, basename="run")

MEMBERS: dict[str, Any] = {"get": "list", "post": "create"}
MEMBER: dict[str, Any] = {"patch": "partial_update", "delete": "destroy"}

run_urls = [
    path("actions", runs.ActionsView.as_view()),
    path("duplicate", runs.DuplicateView.as_view()),
    path("resize", run_size.ResizeView.as_view()),
    path("queue-place", waiting_run.QueuePlaceView.as_view()),
    path("alternatives", waiting_run.AlternativesView.as_view()),
    path("size", run_size.RunSizeView.as_view()),
    path("transitions", run_history.TransitionsView.as_view()),
    path("attempts", run_history.AttemptsView.as_view()),
    path("commands", run_history.CommandsView.as_view()),
    path("plan", run_history.PlanView.as_view()),
    path("metrics", telemetry.MetricsView.as_view()),
    path("timeline", telemetry.TimelineView.as_view()),
    path("fragments/<int:batch>/<int:group>/<int:fragment>", run_fragments.FragmentView.as_view()),
    path("bubbles", telemetry.BubblesView.as_view()),
    path("lending", telemetry.LendingView.as_view()),
    path("staleness", telemetry.StalenessView.as_view()),
    path("prompts", telemetry.PromptsView.as_view()),
    path("events", telemetry.EventsView.as_view()),
    path("logs", run_logs.LogsView.as_view()),
    path("logs/errors", run_logs.LogErrorsView.as_view()),
    path("logs/text", run_logs.LogTextView.as_view()),
    path("samples", gallery.SamplesView.as_view()),
    path("adapters", gallery.AdaptersView.as_view()),
    path("adapters/<int:adapter_id>/archive", gallery.AdapterArchiveView.as_view()),
    path("checkpoints", gallery.CheckpointsView.as_view()),
    path("report", analysis.ReportView.as_view()),
    path("replays", analysis.ReplaysView.as_view()),
    path("schedule", gallery.ScheduleLogView.as_view()),
    path("artifacts/<path:path>", gallery.ArtifactView.as_view()),
    path("previews", gallery.PreviewsView.as_view()),
    path("previews/<uuid:preview_id>/images/<str:name>", gallery.PreviewImageView.as_view()),
]

urlpatterns = [
    path("me", accounts.MeView.as_view()),
    path("projects/<uuid:project_id>/members", accounts.MemberViewSet.as_view(MEMBERS)),
    path("projects/<uuid:project_id>/members/<int:user_id>", accounts.MemberViewSet.as_view(MEMBER)),
    path("run-spec-schema", catalog.RunSpecSchemaView.as_view()),
    path("presets", catalog.PresetsView.as_view()),
    path("base-models", catalog.BaseModelsView.as_view()),
    path("runs:validate", runs.ValidateView.as_view()),
    path("runs:table", run_lists.RunTableView.as_view()),
    path("runs:bulk", run_lists.BulkView.as_view()),
    path("runs:sparklines", telemetry.SparklinesView.as_view()),
    path("plans", runs.PlansView.as_view()),
    path("runs/<uuid:run_id>/", include(run_urls)),
    path("pool", pool.PoolView.as_view()),
    path("pool/actions", pool.PoolActionsView.as_view()),
    path("nodes", pool.NodesView.as_view()),
    path("nodes/<int:node_id>", pool.NodeView.as_view()),
    path("nodes/<int:node_id>/actions", pool.NodeActionsView.as_view()),
    path("nodes/<int:node_id>/history", pool.NodeHistoryView.as_view()),
    path("gpus", pool.GpusView.as_view()),
    path("gpus/<int:gpu_id>", pool.GpuView.as_view()),
    path("gpus/<int:gpu_id>/actions", pool.GpuActionsView.as_view()),
    path("gpus/<int:gpu_id>/history", pool.GpuHistoryView.as_view()),
    path("gpus/<int:gpu_id>/tests", gpu_tests.GpuTestsView.as_view()),
    path("gpus/<int:gpu_id>/minutes", gpus.GpuMinutesView.as_view()),
    path("gpus/<int:gpu_id>/uses", gpus.GpuUsesView.as_view()),
    path("gpus/<int:gpu_id>/health", gpus.GpuHealthView.as_view()),
    path("gpus:test", gpus.TestGpusView.as_view()),
    path("lanes", pool.LanesView.as_view()),
    path("lanes/<int:lane_id>/actions", pool.LaneActionsView.as_view()),
    path("pools", pools.PoolsView.as_view()),
    path("pools:preview", pools.PoolsPreviewView.as_view()),
    path("pools/<str:name>", pools.OnePoolView.as_view()),
    path("queue", queue.QueueView.as_view()),
    path("queue/running", queue.RunningView.as_view()),
    path("queue:preview", queue.QueuePreviewView.as_view()),
    path("shares", queue.SharesView.as_view()),
    path("shares/<uuid:project_id>", queue.ShareView.as_view()),
    path("budgets", budgets.BudgetsView.as_view()),
    path("budgets/<uuid:project_id>", budgets.BudgetView.as_view()),
    path("pool-policy", queue.PoolPolicyView.as_view()),
    path("lanes/<int:lane_id>/history", pool.LaneHistoryView.as_view()),
    path("occupancy", occupancy.OccupancyView.as_view()),
    path("audit", audit.AuditView.as_view()),
    path("lends", lends.LendsView.as_view()),
    path("lends/sums", lends.LendSumsView.as_view()),
    path("usage", usage.UsageView.as_view()),
    path("usage/days", usage.DailyUsageView.as_view()),
    path("usage.csv", usage.UsageTableView.as_view()),
    path("home", home.HomeView.as_view()),
    path("health/live", health.LiveView.as_view()),
    path("health/ready", health.ReadyView.as_view()),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", docs.DocsView.as_view(), name="docs"),
    path("", include(router.urls)),
]
