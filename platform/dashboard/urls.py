"""Addresses of the pages. `login` is the name that settings redirect to."""

from django.contrib.auth import views as auth_views
from django.urls import path, reverse_lazy

from dashboard import views

urlpatterns = [
    path("", views.home, name="home"),
    path("runs", views.runs, name="runs"),
    path("runs/new", views.new_run, name="new-run"),
    path("runs/<uuid:run_id>", views.run, name="run"),
    path("compare", views.compare, name="compare"),
    path("prompt-sets", views.prompt_sets, name="prompt-sets"),
    path("pool", views.pool, name="pool"),
    path("queue", views.queue, name="queue"),
    path("pool/gpus/<int:gpu_id>", views.gpu, name="gpu"),
    path("pool/occupancy", views.occupancy, name="occupancy"),
    path("usage", views.usage, name="usage"),
    path("audit", views.audit, name="audit"),
    path("lending", views.lending, name="lending"),
    path("projects", views.projects, name="projects"),
    path("account", views.account, name="account"),
    path(
        "account/password",
        auth_views.PasswordChangeView.as_view(
            template_name="dashboard/password.html", success_url=reverse_lazy("account")
        ),
        name="password",
    ),
    path(
        "login",
        auth_views.LoginView.as_view(template_name="dashboard/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout", auth_views.LogoutView.as_view(), name="logout"),
]
