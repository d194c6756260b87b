"""Django's admin as this installation has it: pool admins may enter and read the pool's records."""

from django.contrib.admin import AdminSite
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest

from accounts.access import is_pool_admin


class TandemAdminSite(AdminSite):
    site_header = site_title = "Tandem"
    index_title = "Records"
    # The admin's own form turns away everybody who is not staff.
    login_form = AuthenticationForm

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) or is_pool_admin(request.user)
