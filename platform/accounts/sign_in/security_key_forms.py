"""What a browser sends of a security key or passkey: allauth checks it, and here what its checks leave out.

The user handle of an answer is not signed, and allauth keeps one challenge a session for every purpose. So that a key
which is only a second factor never opens an account alone, `PasskeyForm` takes answers to its own challenges only.
"""

from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.core.exceptions import ValidationError

MAX_NAME_CHARS = 60
MAX_KEYS = 20
"""Of one account. Each is read whenever one of them answers."""
MALFORMED = (AttributeError, KeyError, TypeError, ValueError)
"""What fido2 raises for an answer that no browser makes."""
ASKS_FOR_PERSON = "required"
"""User verification (a fingerprint, a PIN), in the state of a challenge."""


def not_valid() -> ValidationError:
    problem: ValidationError = get_adapter().validation_error("incorrect_code")
    return problem


class AddKeyForm(AddWebAuthnForm):
    name = forms.CharField(required=False, max_length=MAX_NAME_CHARS)

    def clean(self) -> dict[str, Any]:
        """Raises `ValidationError` for an answer that does not hold, and beyond `MAX_KEYS`."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= MAX_KEYS:
            raise ValidationError(f"An account has {MAX_KEYS} keys at most: remove one that you do not use.")
        try:
            cleaned: dict[str, Any] = super().clean()
        except MALFORMED as error:
            raise not_valid() from error
        if credential := cleaned.get("credential"):
            # By this allauth knows a passkey. Browsers say it unsigned: of keys in phones always, some of none.
            credential["clientExtensionResults"] = {"credProps": {"rk": cleaned["passwordless"]}}
        return cleaned


class SecondFactorKeyForm(AuthenticateWebAuthnForm):
    """A key after the password."""

    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()
        except MALFORMED as error:
            raise not_valid() from error


class ConfirmKeyForm(SecondFactorKeyForm, ReauthenticateWebAuthnForm):
    """A key in place of the password, before the second factor is changed."""


class PasskeyForm(SecondFactorKeyForm, LoginWebAuthnForm):
    """A passkey in place of user name, password and second factor: it has asked for a fingerprint or a PIN."""

    def clean_credential(self) -> Authenticator:
        state = auth.get_state() or {}
        if state.get("user_verification") != ASKS_FOR_PERSON:
            raise not_valid()
        authenticator = super().clean_credential()
        if not authenticator.wrap().is_passwordless:
            raise not_valid()
        return authenticator
