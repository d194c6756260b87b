"""Pages of the second factor: asked for at sign-in, set up and removed on the page Account. allauth does the work."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.base.views import AuthenticateView, ReauthenticateView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.sign_in.security_key_forms import SecondFactorKeyForm
from accounts.sign_in.selectors import has_authenticator_app, is_required_of, security_keys
from accounts.sign_in.throttling import TOO_MANY, code_key, seconds_to_wait, tell_to_wait
from audit.record import record
from dashboard.security_key_views import asked_of_key


class AskSecondFactorView(AuthenticateView):
    """The step between the password and the session: until it is done, the session belongs to nobody."""

    template_name = "dashboard/second_factor.html"
    webauthn_form_class = SecondFactorKeyForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        asked = asked_of_key(context["js_data"]["request_options"])
        user = self.stage.login.user
        has = {"has_keys": bool(security_keys(user)), "has_app": has_authenticator_app(user)}
        return {**context, **has, "title": "Second factor", "asked": asked}

    @transaction.atomic
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # One after the other: of two with the same code, both would find that it was not used yet.
        User.objects.select_for_update().get(pk=self.stage.login.user.pk)
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if any(form.has_error(field, TOO_MANY) for field in form.fields):
            return tell_to_wait(response, seconds_to_wait(self.request, code_key(form.user)))
        record("user.second_factor_failed", form.user, user=form.user)
        return response


class ConfirmCodeView(ReauthenticateView):
    """Asks for a code again before the second factor is changed."""

    template_name = "dashboard/confirm.html"
    extra_context = {"title": "Confirm that it is you", "section": "account"}


@method_decorator((login_required, never_cache), name="dispatch")
class SetUpView(ActivateTOTPView):
    """Shows the authenticator's seed as a picture and as text, and takes the first code."""

    template_name = "dashboard/second_factor_set_up.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        is_required = is_required_of(self.request.user)
        return {**context, "title": "Set up a second factor", "section": "account", "is_required": is_required}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        record("user.set_second_factor", self.request.user, user=self.request.user, kind="totp")
        response: HttpResponse = super().form_valid(form)
        # With the code just typed: who has no password would be asked for another before seeing the recovery codes.
        record_authentication(self.request, self.request.user, "mfa", reauthenticated=True)
        return response


class RemoveView(DeactivateTOTPView):
    template_name = "dashboard/second_factor_remove.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        is_required = is_required_of(self.request.user)
        return {**context, "title": "Remove the second factor", "section": "account", "is_required": is_required}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        record("user.remove_second_factor", self.request.user, user=self.request.user, kind="totp")
        return super().form_valid(form)


@method_decorator(never_cache, name="dispatch")
class RecoveryCodesView(ViewRecoveryCodesView):
    """Shows the codes, once."""

    template_name = "dashboard/recovery_codes.html"
    extra_context = {"title": "Recovery codes", "section": "account"}


@method_decorator(login_required, name="dispatch")
class NewRecoveryCodesView(GenerateRecoveryCodesView):
    template_name = "dashboard/recovery_codes_new.html"
    extra_context = {"title": "New recovery codes", "section": "account"}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        record("user.new_recovery_codes", self.request.user, user=self.request.user)
        return super().form_valid(form)
