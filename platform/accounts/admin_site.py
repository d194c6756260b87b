"""Django's admin as this installation has it: pool admins may enter and read the pool's records."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.access import is_pool_admin


class TandemAdminSite(AdminSite):
    site_header = site_title = "Tandem"
    index_title = "Records"

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send people to the page that all sign in by: a form of its own would ask no second factor, and count no
        attempts. Who is signed in already may not enter, and is told so."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied("the records are for pool admins and administrators of this installation")
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index"))

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) or is_pool_admin(request.user)
