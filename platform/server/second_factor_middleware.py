"""Keeps a session from everything until its user has the second factor that the installation requires."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from accounts.models import User
from accounts.sign_in.second_factor_policies import OPTIONAL
from accounts.sign_in.selectors import must_set_up
from api.problems import CONTENT_TYPE, problem
from server.error_pages import is_api

OPEN = frozenset(
    {
        *("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
        *("mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes", "logout"),
    }
)
"""Names of the addresses by which a second factor is set up, and of the way out."""


class SecondFactorMiddleware:
    """Redirects pages to the set-up and refuses REST. Websockets ask `must_set_up` themselves; tokens bring no session,
    so that they are let through."""

    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponseBase | None:
        if settings.TANDEM_SECOND_FACTOR == OPTIONAL:
            # Then nobody is read for it: a script's request has no session to load.
            return None
        match = request.resolver_match
        if match is not None and match.url_name in OPEN:
            return None
        user = request.user
        if not isinstance(user, User) or not must_set_up(user, request.session):
            return None
        if not is_api(request):
            return redirect("mfa_activate_totp")
        said = "this installation requires a second factor: set one up on the page Account"
        return JsonResponse(problem(403, said), status=403, content_type=CONTENT_TYPE)
