"""Who has a second factor, and who must."""

from dataclasses import dataclass
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

from accounts.models import User
from accounts.sign_in.begun_sessions import provider_of
from accounts.sign_in.provider_file import Provider, providers
from accounts.sign_in.second_factor_policies import ADMINS, EVERYONE


@dataclass(frozen=True, slots=True)
class SecurityKey:
    """A security key or passkey, as its owner sees it."""

    pk: int
    name: str
    opens_alone: bool
    """Whether it is a passkey, which needs no password beside it."""
    created_at: datetime
    last_used_at: datetime | None


def has_second_factor(user: User) -> bool:
    kinds = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return Authenticator.objects.filter(user=user, type__in=kinds).exists()


def has_authenticator_app(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists()


def security_keys(user: User) -> list[SecurityKey]:
    """The user's, oldest first."""
    found = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).order_by("created_at", "pk")
    return [
        SecurityKey(each.pk, each.wrap().name, bool(each.wrap().is_passwordless), each.created_at, each.last_used_at)
        for each in found
    ]


def num_recovery_codes(user: User) -> int:
    """How many of the user's recovery codes were not used yet."""
    codes = Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).first()
    return 0 if codes is None else len(codes.wrap().get_unused_codes())


@dataclass(frozen=True, slots=True)
class ProviderLink:
    """A provider, as the page of an account shows it."""

    provider: Provider
    linked_at: datetime | None
    """None for one that does not sign the account in."""
    last_login_at: datetime | None


def provider_links(user: User) -> list[ProviderLink]:
    """Of each provider whether it signs the user in, in the order of the configuration."""
    found = {link.provider: link for link in SocialAccount.objects.filter(user=user).order_by("last_login")}
    return [
        ProviderLink(provider, link.date_joined, link.last_login)
        if (link := found.get(provider.id))
        else ProviderLink(provider, None, None)
        for provider in providers()
    ]


def is_required_of(user: User) -> bool:
    """Whether this installation asks a second factor of the user's sign-ins by password."""
    policy = settings.TANDEM_SECOND_FACTOR
    is_admin = user.is_superuser or user.is_staff or user.is_pool_admin
    return policy == EVERYONE or (policy == ADMINS and is_admin)


def must_set_up(user: User, session: SessionBase | None) -> bool:
    """Whether the session may do nothing until its user has a second factor."""
    if not is_required_of(user) or provider_of(session) is not None:
        return False
    return not has_second_factor(user)
