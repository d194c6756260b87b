"""Signing in by password, and changing it. The steps are allauth's, the pages and their words ours."""

import math
from typing import Any

from allauth.account.views import LoginView, ReauthenticateView
from allauth.core.internal.ratelimit import decorator as rate_limit
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from accounts.sign_in.password_forms import ChangePasswordForm
from accounts.sign_in.provider_file import provider_names, providers
from accounts.sign_in.sign_in_form import SignInForm
from accounts.sign_in.throttling import TOO_MANY, name_key, seconds_to_wait, tell_to_wait
from audit.record import record

SECONDS_OF_MINUTE = 60


class SignInView(LoginView):
    """The login page. Its form answers 429 after too many attempts, and 503 where they cannot be counted."""

    form_class = SignInForm
    template_name = "dashboard/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except RedisError:
            # Uncounted, passwords could be guessed without end.
            said = "The broker does not answer, which counts attempts: start Redis or Valkey, then try again."
            return render(request, "dashboard/notice.html", {"title": "Not now", "said": said}, status=503)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if settings.TANDEM_OIDC_ONLY:
            raise PermissionDenied(f"passwords open nothing here: log in by {provider_names()}")
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if form.has_error("__all__", TOO_MANY):
            return tell_to_wait(response, self._wait())
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if context["form"].is_bound and context["form"].has_error("__all__", TOO_MANY):
            context["wait_minutes"] = math.ceil(self._wait() / SECONDS_OF_MINUTE)
        takes_passwords = not settings.TANDEM_OIDC_ONLY
        return {**context, "title": "Log in", "providers": providers(), "takes_passwords": takes_passwords}

    def _wait(self) -> int:
        return seconds_to_wait(self.request, name_key(self.request.POST.get("username", "")))


class ConfirmPasswordView(ReauthenticateView):
    """Asks for the password again before the second factor is changed."""

    template_name = "dashboard/confirm.html"
    extra_context = {"title": "Confirm that it is you", "section": "account"}


# In this order: attempts are counted by user.
@method_decorator((login_required, rate_limit(action="change_password", app="allauth.account")), name="dispatch")
class ChangePasswordView(PasswordChangeView):
    form_class = ChangePasswordForm
    template_name = "dashboard/password.html"
    success_url = reverse_lazy("account")
    extra_context = {"section": "account"}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        record("user.change_password", form.user, user=form.user, end_tokens=form.cleaned_data["end_tokens"])
        return super().form_valid(form)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """What allauth answers to an address that sends forms too often, counted over a minute."""
    said = "This address has sent too many forms. Wait a minute, then try again."
    page = render(request, "dashboard/notice.html", {"title": "Too many attempts", "said": said})
    return tell_to_wait(page, SECONDS_OF_MINUTE)


@require_safe
def inactive(request: HttpRequest) -> HttpResponse:
    """Where somebody comes whose account is switched off, or a script's, once the password was right."""
    said = "This account is switched off, or a service account: ask an administrator of this installation."
    return render(request, "dashboard/notice.html", {"title": "Not signed in", "said": said}, status=403)
