"""Ends the link of an account with a provider; nobody loses the last way to sign in."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from accounts.sign_in.begun_sessions import end_sessions_begun_by
from accounts.sign_in.group_roles import apply_group_roles
from accounts.sign_in.provider_file import Provider, providers
from accounts.sign_in.selectors import security_keys
from audit.record import record


@transaction.atomic
def unlink_provider(*, user: User, provider: Provider) -> None:
    """Forget the provider's subject, take what its groups gave, and end the sessions that began there: no sign-in there
    would be taken any more.

    Raises `ValidationError` where nothing else would sign the user in.
    """
    account = _locked(user)
    linked = list(SocialAccount.objects.filter(user=account, provider=provider.id))
    if not linked:
        raise ValidationError("This account is not linked.")
    if not opens_by_itself(account) and not _is_linked(account, without=provider):
        said = f"Nothing but {provider.name} signs you in"
        raise ValidationError(
            f"{said}: link another provider first."
            if settings.TANDEM_OIDC_ONLY
            else f"{said}: set a password or add a passkey first."
        )
    subjects = [each.extra_data for each in linked]
    num_sessions = sum(end_sessions_begun_by(each) for each in linked)
    SocialAccount.objects.filter(pk__in=[each.pk for each in linked]).delete()
    apply_group_roles(user=account)
    ended: dict[str, Any] = {"subjects": subjects, "num_sessions_ended": num_sessions}
    record("user.unlink_provider", account, user=user, provider=provider.id, **ended)


def require_another_way(account: User, *, without: Authenticator) -> None:
    """Raises `ValidationError` where nothing would sign the account in without that key. In the transaction that
    removes the key: the account is locked until then."""
    account = _locked(account)
    if without.wrap().is_passwordless and not _is_linked(account) and not opens_by_itself(account, without=without.pk):
        raise ValidationError("Nothing but this passkey signs you in: set a password or add another passkey first.")


def opens_by_itself(account: User, *, without: int | None = None) -> bool:
    """Whether a password, or a passkey other than `without`, signs the account in."""
    if settings.TANDEM_OIDC_ONLY:
        return False
    passkeys = [key for key in security_keys(account) if key.opens_alone and key.pk != without]
    return account.has_usable_password() or bool(passkeys)


def _is_linked(account: User, *, without: Provider | None = None) -> bool:
    """Whether a provider that there still is, other than `without`, signs the account in."""
    others = [provider.id for provider in providers() if provider != without]
    return SocialAccount.objects.filter(user=account, provider__in=others).exists()


def _locked(user: User) -> User:
    """The account, so that of two who take away a way to sign in the second sees that the first did."""
    return User.objects.select_for_update().get(pk=user.pk)
