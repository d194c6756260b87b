"""What allauth asks about accounts: which redirects are safe, and what is told and recorded of an attempt."""

from datetime import timedelta
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from accounts.sign_in.begun_sessions import provider_of
from accounts.sign_in.provider_file import provider_named
from accounts.sign_in.throttling import name_key
from audit.record import record


class AccountAdapter(DefaultAccountAdapter):
    """The same words for an unknown user and for a wrong password, so that neither tells who has an account."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The user name or the password is wrong.",
        "incorrect_password": "The password is wrong.",
        "too_many_login_attempts": "Too many attempts failed: wait a few minutes.",
        "rate_limited": "Too many attempts failed: wait five minutes.",
    }

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Pages say themselves what has happened; messages would wait in a cookie for a page that shows none."""

    def is_safe_url(self, url: str) -> bool:
        """Whether to go there after signing in: only within this site, which other names of this machine are not."""
        request = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Administrators make the accounts."""
        return False

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        return name_key(str(credentials.get("username", "")))

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record the attempt. What was typed is kept only where it names an account: people type passwords there."""
        account = User.objects.filter(username=credentials.get("username", "")).first()
        record(
            "user.sign_in_failed",
            account or User(),
            user=None,
            actor=account.username if account else "somebody",
            object_id="" if account else "unknown",
            address=self.get_client_ip(request),
        )

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Keep scripts' accounts out, whatever brought them here: an administrator may have set a password."""
        if user.is_service_account:
            record("user.sign_in_refused", user, user=user, why="service account", address=self.get_client_ip(request))
            return redirect("account_inactive")
        return super().pre_login(request, user, **kwargs)

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Record that an account which is switched off was asked for with its own password."""
        record("user.sign_in_refused", user, user=user, why="switched off", address=self.get_client_ip(request))
        return super().respond_user_inactive(request, user)

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin the session, under a new key. Recorded first: no session without its record."""
        record_sign_in(request, user, address=self.get_client_ip(request))
        super().login(request, user)
        if provider := provider_named(provider_of(request.session) or ""):
            # By then the provider is asked again whether they are still there, and in which groups.
            request.session.set_expiry(timezone.now() + timedelta(hours=provider.session_hours))


def record_sign_in(request: HttpRequest, user: User, *, address: str) -> None:
    """Append that `user` signed in, and by which steps: `password`, `mfa`, `socialaccount`, `link`."""
    steps = [step["method"] for step in get_authentication_records(request, user)]
    record("user.sign_in", user, user=user, by=steps, address=address)
