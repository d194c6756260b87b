"""Who may come in from a provider, and as whom: a known subject, a newcomer, or a local account to be linked."""

import logging
from typing import Any

import requests
from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse

from accounts.models import User
from accounts.sign_in.group_roles import GROUPS, apply_group_roles
from accounts.sign_in.provider_file import providers
from accounts.sign_in.provider_requests import guarded
from audit.record import record

OPENID_CONNECT = "openid_connect"
"""allauth's name of the protocol, of which each of our providers is an app."""
logger = logging.getLogger(__name__)
MAX_WHY_CHARS = 300
"""Of what went wrong, which may hold a whole page of the provider's."""


class SocialAdapter(DefaultSocialAccountAdapter):
    """Every refusal is a page that says why, and a row of the audit log."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """The configured providers as allauth takes them; none is kept in the database. Raises `ImmediateHttpResponse`
        where the secret of the one that is asked for cannot be read; of others that one is left out."""
        apps = []
        for each in providers():
            if provider not in (None, OPENID_CONNECT, each.id) or client_id not in (None, each.client_id):
                continue
            try:
                secret = each.client_secret
            except (OSError, UnicodeDecodeError) as error:
                logger.error("nobody can sign in by %s, whose secret cannot be read: %s", each.name, error)
                if provider == each.id:
                    raise ImmediateHttpResponse(_secret_is_gone(request, each.name)) from error
                continue
            known = {"server_url": each.issuer, "scope": list(each.scopes)}
            made = {"provider": OPENID_CONNECT, "provider_id": each.id, "name": each.name, "client_id": each.client_id}
            apps.append(SocialApp(**made, secret=secret, settings=known))
        return apps

    def get_requests_session(self) -> requests.Session:
        return guarded(super().get_requests_session())

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse, link or let in, before anything else happens. Raises `ImmediateHttpResponse`."""
        groups = frozenset(sociallogin.account.extra_data[GROUPS])
        if not sociallogin.provider.configured.admits(groups):
            self._refuse(request, sociallogin, "You are in none of the groups that may use this installation.")
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            return
        if not sociallogin.is_existing:
            self._link_by_email(request, sociallogin)
        if sociallogin.is_existing:
            apply_group_roles(user=sociallogin.user)
        # Under another key before a second factor is asked for, as after a password.
        request.session.cycle_key()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Nobody is asked for a name or an address, which they could choose to be somebody else's."""
        return True

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: None = None) -> User:
        """Make the newcomer's account, which has the rights that groups give and no other, were it the first."""
        user: User = super().save_user(request, sociallogin, form)
        record("user.create", user, user=user, by="identity provider", email=user.email)
        apply_group_roles(user=user)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("account")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Say what went wrong. Raises `ImmediateHttpResponse`, so that no template of allauth is shown."""
        if error == AuthError.CANCELLED:
            said, why = f"You did not sign in at {provider.name}.", "cancelled"
        else:
            said = f"Signing in by {provider.name} failed. Try again; if it fails again, tell an administrator."
            why = str(exception or "no sign-in was begun here")[:MAX_WHY_CHARS]
        record_refusal(request, User(), why=why)
        raise ImmediateHttpResponse(refusal_page(request, said))

    def _link_by_email(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link the local account of the newcomer's verified address, where the administrator allows it; refuse what
        would make a second account of one address. An address that is not verified was left out before.

        An account that some provider signs in is linked by its owner alone: else who gets an address at one provider
        would get the account of whoever has it at another."""
        email = sociallogin.user.email
        found = list(User.objects.filter(email__iexact=email)[:2]) if email else []
        if not found:
            return
        may_link = sociallogin.provider.configured.link_by_email and len(found) == 1
        if not may_link or SocialAccount.objects.filter(user=found[0]).exists():
            said = (
                f"There is an account with the address {email} already. Log in to it as before, then link "
                f"{sociallogin.provider.name} on the page Account; or ask an administrator."
            )
            self._refuse(request, sociallogin, said)
        sociallogin.connect(request, found[0])

    def _refuse(self, request: HttpRequest, sociallogin: SocialLogin, said: str) -> None:
        known = sociallogin.user if sociallogin.is_existing else User()
        record_refusal(request, known, why=said, subject=sociallogin.account.extra_data)
        raise ImmediateHttpResponse(refusal_page(request, said))


def record_refusal(request: HttpRequest, account: User, *, why: str, **details: Any) -> None:
    """Append that a sign-in by the provider was refused; `account` is unsaved where it is nobody's."""
    address = get_account_adapter().get_client_ip(request)
    known = {"user": account} if account.pk else {"user": None, "actor": "somebody", "object_id": "unknown"}
    record("user.sign_in_refused", account, why=why, address=address, **known, **details)


def record_link(sociallogin: SocialLogin, **_: Any) -> None:
    """Append that a local account was linked with a subject of the provider."""
    subject = sociallogin.account.extra_data
    record("user.link_provider", sociallogin.user, user=sociallogin.user, subject=subject)


def _secret_is_gone(request: HttpRequest, name: str) -> Any:
    said = (
        f"Signing in by {name} does not work now: the file of its client secret cannot be read. Tell an administrator "
        "of this installation, whose log names the file, or log in another way."
    )
    return render(request, "dashboard/notice.html", {"title": "Not now", "said": said}, status=503)


def refusal_page(request: HttpRequest, said: str) -> Any:
    return render(request, "dashboard/notice.html", {"title": "Not signed in", "said": said}, status=403)
