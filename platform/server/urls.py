"""Every address of the web side; each app owns what lies below its prefix."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/ingest/v1/", include("telemetry.ingest.ingest_urls")),
    path("api/ingest/v1/", include("gallery.ingest_urls")),
    path("api/v1/", include("api.urls")),
    path("admin/", admin.site.urls),
    path("", include("dashboard.urls")),
]

handler400 = "server.error_pages.bad_request"
handler403 = "server.error_pages.permission_denied"
handler404 = "server.error_pages.page_not_found"
handler500 = "server.error_pages.server_error"
# Django knows no handler of 429; allauth looks for it here.
handler429 = "dashboard.sign_in_views.too_many_requests"
