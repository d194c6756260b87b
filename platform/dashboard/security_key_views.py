"""Pages of security keys and passkeys: added and removed on the page Account, taken at sign-in.

allauth does the work, the browser speaks with the key (`frontend/src/pages/settings/security_key.tsx`).
"""

import json
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.ratelimit import decorator as rate_limit
from allauth.mfa.webauthn.internal import auth, flows
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.sign_in.provider_file import provider_names
from accounts.sign_in.provider_links import require_another_way
from accounts.sign_in.security_key_forms import MAX_NAME_CHARS, AddKeyForm, ConfirmKeyForm, PasskeyForm
from accounts.sign_in.selectors import is_required_of
from audit.record import record


def asked_of_key(options: Any) -> str:
    """What a browser is to ask of a key, as JSON (`PublicKeyCredential.parse…OptionsFromJSON`)."""
    return json.dumps(options["publicKey"], cls=DjangoJSONEncoder)


@method_decorator((login_required, never_cache), name="dispatch")
class AddKeyView(AddWebAuthnView):
    form_class = AddKeyForm
    template_name = "dashboard/security_key_add.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # allauth's own leaves out what the form of a refused answer says.
        context = {**super().get_context_data(**kwargs), **kwargs}
        asked = asked_of_key(context["js_data"]["creation_options"])
        title = {"title": "Add a security key or passkey", "section": "account"}
        return {**context, **title, "asked": asked, "max_name_chars": MAX_NAME_CHARS}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        name, opens_alone = form.cleaned_data["name"], form.cleaned_data["passwordless"]
        record("user.add_security_key", self.request.user, user=self.request.user, name=name, opens_alone=opens_alone)
        response: HttpResponse = super().form_valid(form)
        # With the key just used: who has no password would be asked for another before seeing the recovery codes.
        record_authentication(self.request, self.request.user, "mfa", reauthenticated=True)
        return response


# Not DELETE, by which Django would remove it past `form_valid`.
@method_decorator((require_http_methods(["GET", "HEAD", "POST"]), login_required, never_cache), name="dispatch")
class RemoveKeyView(RemoveWebAuthnView):
    pk_url_kwarg = "key_id"
    template_name = "dashboard/security_key_remove.html"
    success_url = reverse_lazy("account")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        named = {"name": self.object.wrap().name, "is_required": is_required_of(self.request.user)}
        return {**context, **named, "title": "Remove a security key", "section": "account"}

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        key = self.get_object()
        name = key.wrap().name
        try:
            require_another_way(self.request.user, without=key)
        except ValidationError as error:
            return self.render_to_response(self.get_context_data(problems=error.messages), status=409)
        record("user.remove_security_key", self.request.user, user=self.request.user, name=name)
        return super().form_valid(form)


@method_decorator(never_cache, name="dispatch")
class ConfirmKeyView(ReauthenticateWebAuthnView):
    form_class = ConfirmKeyForm
    template_name = "dashboard/confirm.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = {**super().get_context_data(**kwargs), **kwargs}
        asked = asked_of_key(context["js_data"]["request_options"])
        return {**context, "title": "Confirm that it is you", "section": "account", "asked": asked}

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form))


@method_decorator((require_http_methods(["GET", "HEAD", "POST"]), never_cache), name="dispatch")
class PasskeyView(LoginWebAuthnView):
    """Signs in by a passkey alone. A GET answers what to ask of it, as JSON."""

    form_class = PasskeyForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.TANDEM_OIDC_ONLY:
            raise PermissionDenied(f"passkeys open nothing here: log in by {provider_names()}")
        return super().dispatch(request, *args, **kwargs)

    # Each of these begins a session, whoever asks.
    @method_decorator(rate_limit(action="webauthn_login", app="allauth.mfa", limit_get=True))
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        options = auth.begin_authentication(user=None)
        return JsonResponse(json.loads(asked_of_key(options)))

    def form_valid(self, form: Any) -> HttpResponse:
        key = form.cleaned_data["credential"]
        # Under another key already, as after a password: somebody may have planted the session's.
        self.request.session.cycle_key()
        login = Login(user=key.user, redirect_url=get_next_redirect_url(self.request))
        return flows.perform_passwordless_login(self.request, key, login)

    def form_invalid(self, form: Any) -> HttpResponse:
        said = "This passkey does not belong to an account here, or it was not made to log in alone. Use your password."
        record_failed_passkey(self.request)
        return render(self.request, "dashboard/notice.html", {"title": "Not signed in", "said": said}, status=403)


def record_failed_passkey(request: HttpRequest) -> None:
    """Append that a passkey was refused; whose it is said to be is not signed, and not kept."""
    address = get_account_adapter().get_client_ip(request)
    record("user.sign_in_failed", User(), user=None, actor="somebody", object_id="unknown", address=address)
