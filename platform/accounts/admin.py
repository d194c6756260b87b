"""Accounts in Django's admin: where an administrator creates users and makes them pool admins. Members are managed on
the project's page."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.access import require_superuser
from accounts.models import ApiToken, Membership, Project, User
from accounts.service_accounts import end_access
from accounts.sign_in.group_roles import FLAGS
from accounts.sign_in.password_forms import NewPasswordForm
from accounts.sign_in.second_factors import reset_second_factor
from audit.read_only_admin import register
from audit.record import record

# allauth registers its records to be changed, past every rule and record, and shows the seeds of second factors. Django
# registers groups, by which nothing here is allowed.
for model in (Authenticator, EmailAddress, Group, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)

_NEVER_RECORDED = ("password", "password1", "password2", "usable_password")


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]  # generic for mypy alone
    list_display = (
        "username",
        "is_active",
        "is_pool_admin",
        "is_staff",
        "is_superuser",
        "is_service_account",
        "last_login",
    )
    list_filter = ("is_pool_admin", "is_superuser", "is_active", "is_service_account")
    change_password_form = NewPasswordForm
    actions = ("reset_second_factors",)

    fieldsets = (*(UserAdmin.fieldsets or ()), ("Pool", {"fields": ("is_pool_admin",)}))

    # The stub has an argument of a later Django.
    def response_action(  # type: ignore[override]
        self, request: HttpRequest, queryset: QuerySet[User]
    ) -> HttpResponse | None:
        """Carry out an action on the accounts that are ticked. Raises `BadRequest` for what is no account's number,
        which Django would look up as it is."""
        for ticked in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                User._meta.pk.to_python(ticked)
            except ValidationError as error:
                raise BadRequest(f"`{ACTION_CHECKBOX_NAME}` must be accounts' numbers, got {ticked[:40]!r}") from error
        return super().response_action(request, queryset)

    @admin.action(description="Reset the second factor, for who has lost app and recovery codes")
    def reset_second_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        admin_user = require_superuser(request.user)
        for account in queryset:
            reset_second_factor(user=admin_user, account=account)
        self.message_user(request, f"Reset: {', '.join(account.username for account in queryset)}.")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the account, and append to the audit log what was changed about it."""
        admin_user = require_superuser(request.user)
        # What is ticked here is given by hand, whatever groups gave before.
        obj.mapped_rights = [right for right in obj.mapped_rights if FLAGS[right] not in form.changed_data]
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            end_access(obj)
        changed = {name: str(form.cleaned_data.get(name)) for name in form.changed_data if name not in _NEVER_RECORDED}
        record("user.change" if change else "user.create", obj, user=admin_user, changed=changed)


register(
    {
        Project: ("name", "slug", "created_at"),
        Membership: ("project", "user", "role", "created_at"),
        ApiToken: ("token_key", "name", "user", "created", "expiry"),
    }
)
