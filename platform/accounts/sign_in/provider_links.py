"""Ends the link of an account with the provider; nobody loses the last way to sign in."""

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from accounts.sign_in.group_roles import apply_group_roles
from accounts.sign_in.selectors import security_keys
from audit.record import record


@transaction.atomic
def unlink_provider(*, user: User) -> None:
    """Forget the provider's subject, and take what its groups gave: no sign-in would take it any more.

    Raises `ValidationError` where nothing else would sign the user in.
    """
    account = _locked(user)
    linked = SocialAccount.objects.filter(user=account)
    subjects = [each.extra_data for each in linked]
    if not subjects:
        raise ValidationError("This account is not linked.")
    if not opens_by_itself(account):
        raise ValidationError(
            f"Nothing but {settings.TANDEM_OIDC_NAME} signs you in: set a password or add a passkey first."
        )
    linked.delete()
    apply_group_roles(user=account, groups=frozenset())
    record("user.unlink_provider", account, user=user, subjects=subjects)


def require_another_way(account: User, *, without: Authenticator) -> None:
    """Raises `ValidationError` where nothing would sign the account in without that key. In the transaction that
    removes the key: the account is locked until then."""
    account = _locked(account)
    is_linked = bool(settings.TANDEM_OIDC_ISSUER) and SocialAccount.objects.filter(user=account).exists()
    if without.wrap().is_passwordless and not is_linked and not opens_by_itself(account, without=without.pk):
        raise ValidationError("Nothing but this passkey signs you in: set a password or add another passkey first.")


def opens_by_itself(account: User, *, without: int | None = None) -> bool:
    """Whether a password, or a passkey other than `without`, signs the account in."""
    if settings.TANDEM_OIDC_ONLY:
        return False
    passkeys = [key for key in security_keys(account) if key.opens_alone and key.pk != without]
    return account.has_usable_password() or bool(passkeys)


def _locked(user: User) -> User:
    """The account, so that of two who take away a way to sign in the second sees that the first did."""
    return User.objects.select_for_update().get(pk=user.pk)
