"""Second factors: an authenticator app, security keys, recovery codes; kept by allauth, required or not.

They protect sign-ins by password. Who signs in at a provider has whatever the provider asks, and may have one here too;
API tokens have none, because scripts hold no phone.
"""

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import encryption
from accounts.access import require_superuser
from accounts.models import User
from audit.record import record


class SecondFactorAdapter(DefaultMFAAdapter):
    """allauth's, with its seeds encrypted in the database."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code or key is wrong, or was used already.",
    }

    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return encryption.decrypt(encrypted_text)

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        """What a key is called whose owner gives it no name."""
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return f"Key {number}"

    def get_totp_label(self, user: Any) -> str:
        return str(user.get_username())


@transaction.atomic
def reset_second_factor(*, user: User | None, account: User, actor: str = "") -> None:
    """Remove the account's authenticator, keys and recovery codes, for somebody who has lost them. `user` is None where
    the command `actor` does it. Raises `PermissionDenied` unless `user` administers the installation."""
    if user is not None:
        require_superuser(user)
    num_removed, _ = Authenticator.objects.filter(user=account).delete()
    record("user.reset_second_factor", account, user=user, actor=actor, num_removed=num_removed)
