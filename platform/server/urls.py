"""Every address of the web side; each app owns what lies below its prefix."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    *([path("api/ingest/v1/", include("telemetry.ingest_urls"))] if find_spec("telemetry.ingest_urls") else []),
    *([path("api/ingest/v1/", include("gallery.ingest_urls"))] if find_spec("gallery.ingest_urls") else []),
    *([path("api/v1/", include("api.urls"))] if find_spec("api.urls") else []),
    path("admin/", admin.site.urls),
    *([path("", include("dashboard.urls"))] if find_spec("dashboard") and find_spec("dashboard.urls") else []),
]
