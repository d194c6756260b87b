"""At which provider a session began, and the end of those that began there."""

from collections.abc import Mapping
from typing import Any

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.socialaccount.models import SocialAccount
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.utils import timezone


def provider_of(session: SessionBase | None) -> str | None:
    """The id of the provider that the session began at; None for one that began by a password, a passkey or a link."""
    return None if session is None else next((step["provider"] for step in _steps(session)), None)


def end_sessions_begun_by(link: SocialAccount) -> int:
    """End the sessions that began with a sign-in by the link, also those that still wait for a second factor. Returns
    their number.

    All sessions are read for it, since what they hold is not indexed: some milliseconds for each hundred people.
    """
    begun = [
        row
        for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator()
        if any((step["provider"], step["uid"]) == (link.provider, link.uid) for step in _steps(row.get_decoded()))
    ]
    for row in begun:
        row.delete()
    return len(begun)


def _steps(session: SessionBase | Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sign-ins at providers among the steps that allauth notes."""
    noted: list[dict[str, Any]] = session.get(AUTHENTICATION_METHODS_SESSION_KEY, [])
    return [step for step in noted if step["method"] == "socialaccount"]
