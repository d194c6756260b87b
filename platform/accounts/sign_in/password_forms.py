"""The forms by which passwords change. Sessions elsewhere end with the old one, as Django has it; tokens do not."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AdminPasswordChangeForm, PasswordChangeForm

from accounts.service_accounts import end_access


class ChangePasswordForm(PasswordChangeForm):
    end_tokens = forms.BooleanField(
        required=False,
        initial=True,
        label="Revoke my API tokens",
        help_text="Whoever knew the old password may have made one. Scripts that use them need new ones.",
    )

    def save(self, commit: bool = True) -> Any:
        account = super().save(commit)
        if self.cleaned_data["end_tokens"]:
            end_access(account)
        return account


class NewPasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg]  # generic for mypy alone
    """By which an administrator gives somebody a new password, or none: the account's tokens end with the old one."""

    def save(self, commit: bool = True) -> Any:
        account = super().save(commit)
        end_access(account)
        return account
