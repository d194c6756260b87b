"""Signing in at a provider of OpenID Connect, and by a link of the command line."""

import secrets
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.ratelimit import decorator as rate_limit
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib.auth import logout
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from requests import RequestException

from accounts.models import User
from accounts.sign_in.begun_sessions import provider_of
from accounts.sign_in.oidc_provider import OidcAdapter
from accounts.sign_in.provider_file import Provider, provider_named
from accounts.sign_in.provider_links import unlink_provider
from accounts.sign_in.sign_in_links import account_of_link, take_sign_in_link


@require_safe
@never_cache
@rate_limit(action="login", app="allauth.account", limit_get=True)
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send the browser to the provider; `?link` adds the provider to the account that is logged in.

    By GET, since the policy of our pages lets forms go to this site alone. Other sites cannot start a sign-in: their
    requests are sent to the login page, where the person decides.
    """
    _known(provider_id)
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return redirect("login")
    links = "link" in request.GET and request.user.is_authenticated
    nonce = secrets.token_urlsafe(32)
    provider = get_adapter().get_provider(request, provider=provider_id)
    try:
        return provider.redirect(
            request,
            process=AuthProcess.CONNECT if links else AuthProcess.LOGIN,
            next_url=get_next_redirect_url(request),
            auth_params={"nonce": nonce},
            nonce=nonce,
        )
    except (RequestException, OAuth2Error) as error:
        get_adapter().on_authentication_error(request, provider, exception=error)
        raise


class CallbackView(OAuth2CallbackView):
    """What the provider sends people back to, with a code that is exchanged for tokens."""

    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.nonce = state and state.get("nonce")
        # RFC 9207: an answer that another provider gave must not be taken for this one's.
        if state and request.GET.get("iss", provider.configured.issuer).rstrip("/") != provider.configured.issuer:
            get_adapter().on_authentication_error(request, provider, exception=OAuth2Error("another issuer answered"))
        return state, response


@require_safe
@never_cache
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    _known(provider_id)
    return CallbackView.adapter_view(OidcAdapter(request, provider_id))(request)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required(app="allauth.mfa")
def unlink(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Ends the link of the account with the provider, and the sessions that began there: this one, too, if it did."""
    provider = _known(provider_id)
    assert isinstance(request.user, User)
    began_there = provider_of(request.session) == provider.id
    context = {"title": f"Unlink {provider.name}", "section": "account", "provider": provider}
    context |= {"began_there": began_there}
    if request.method == "POST":
        try:
            unlink_provider(user=request.user, provider=provider)
        except ValidationError as error:
            return render(request, "dashboard/unlink.html", {**context, "problems": error.messages}, status=409)
        if began_there:
            logout(request)
        return redirect("account")
    return render(request, "dashboard/unlink.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def sign_in_link(request: HttpRequest, code: str) -> HttpResponse:
    """Sign in whom the link is for. By POST: what looks at links, such as a chat, must not use it up."""
    account = take_sign_in_link(code) if request.method == "POST" else account_of_link(code)
    if account is None:
        said = "This link was used already, or has ended. Make another one: manage.py sign_in_link USER."
        return render(request, "dashboard/notice.html", {"title": "Not signed in", "said": said}, status=403)
    if request.method != "POST":
        return render(request, "dashboard/sign_in_link.html", {"title": "Log in", "account": account})
    if request.user.is_authenticated:
        get_account_adapter().logout(request)
    # Under another key before a second factor is asked for: somebody may have planted the session's.
    request.session.cycle_key()
    record_authentication(request, account, method="link")
    return perform_login(request, Login(user=account))


def _known(provider_id: str) -> Provider:
    if (found := provider_named(provider_id)) is None:
        raise Http404("this installation has no such provider of OpenID Connect")
    return found
