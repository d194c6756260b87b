"""The form by which a local account signs in."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django import forms
from django.http import HttpRequest, HttpResponse

from accounts.models import User


class SignInForm(forms.Form):
    """User name and password. Its fields are named as password managers and scripts know them."""

    username = forms.CharField(max_length=150)
    password = forms.CharField(strip=False)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.user: User | None = None

    @property
    def credentials(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ("username", "password")}

    def clean(self) -> dict[str, Any]:
        """Raises `ValidationError` for what names no account, or not its password, and after too many of them."""
        if not self.errors:
            self.user = get_adapter().authenticate(self.request, **self.credentials)
            if self.user is None:
                raise get_adapter().validation_error("username_password_mismatch")
        return self.cleaned_data

    def login(self, request: HttpRequest, redirect_url: str | None) -> HttpResponse:
        """Sign in, or ask for the second factor first, under another key already: somebody who planted the session's
        could otherwise type codes in it."""
        request.session.cycle_key()
        return perform_password_login(request, self.credentials, Login(user=self.user, redirect_url=redirect_url))
