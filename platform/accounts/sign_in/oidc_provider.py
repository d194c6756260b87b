"""The providers of OpenID Connect: allauth's code flow, with the checks that it leaves out.

Invariant: an account is known by issuer and subject, never by a name or an e-mail address, which others may get.
"""

import hashlib
from typing import Any

import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest

from accounts.sign_in.group_roles import GROUPS, groups_of
from accounts.sign_in.id_tokens import IdTokenRefused, verified_claims
from accounts.sign_in.provider_file import Provider, provider_named

DISCOVERED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
"""What the sign-in needs of the provider's discovery document."""


class OidcAdapter(OpenIDConnectOAuth2Adapter):
    """One sign-in's calls to the provider."""

    nonce: str | None = None
    """That of the sign-in whose answer is handled."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """The discovery document. Raises `OAuth2Error` for that of another issuer, which could speak for ours."""
        found: dict[str, Any] = super().openid_config
        if missing := [name for name in DISCOVERED if name not in found]:
            raise OAuth2Error(f"its discovery document lacks {', '.join(missing)}")
        if found["issuer"].rstrip("/") != (issuer := self.get_provider().configured.issuer):
            raise OAuth2Error(f"its discovery document is that of {found['issuer']}, not of {issuer}")
        return found

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:
        """Whom the provider names. Raises `OAuth2Error` where ID token and user information do not hold."""
        config = self.openid_config
        try:
            claims = verified_claims(
                str(kwargs["response"].get("id_token", "")),
                keys=self._get(config["jwks_uri"]),
                issuer=config["issuer"],
                client_id=app.client_id,
                nonce=self.nonce,
            )
        except IdTokenRefused as error:
            raise OAuth2Error(str(error)) from error
        if "userinfo_endpoint" in config:
            more = self._get(config["userinfo_endpoint"], headers={"Authorization": f"Bearer {token.token}"})
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("its user information is about another subject than its ID token")
            claims = {**more, **claims}
        return self.get_provider().sociallogin_from_response(request, claims)

    def _get(self, address: str, **kwargs: Any) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            answer: requests.Response = session.get(address, **kwargs)
        answer.raise_for_status()
        found = answer.json()
        if not isinstance(found, dict):
            raise OAuth2Error(f"{address} answers with something else than an object")
        return found


class OidcProvider(OpenIDConnectProvider):
    """What is taken from a provider's claims."""

    oauth2_adapter_class = OidcAdapter

    @property
    def configured(self) -> Provider:
        found = provider_named(self.app.provider_id)
        if found is None:
            raise OAuth2Error(f"the provider {self.app.provider_id} was taken out of the configuration")
        return found

    def serialize(self) -> dict[str, Any]:
        """By what a sign-in finds its provider again after a password or a second factor. allauth's would be the name
        of the client, which may be the same at several."""
        return {"id": self.sub_id}

    def extract_uid(self, data: dict[str, Any]) -> str:
        return hashlib.sha256(f"{data['iss']}\n{data['sub']}".encode()).hexdigest()

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """What is kept: who it is, for an administrator who looks for a person, and the groups that decide anything."""
        person: dict[str, Any] = {name: data[name] for name in ("iss", "sub", "preferred_username") if name in data}
        return {**person, GROUPS: sorted(groups_of(data, self.configured))}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        email = self._verified_email(data)
        name = data.get("preferred_username") or email.partition("@")[0] or data.get("name")
        names = {"first_name": data.get("given_name"), "last_name": data.get("family_name")}
        return {"username": name, "email": email, "name": data.get("name"), **names}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        email = self._verified_email(data)
        return [EmailAddress(email=email, verified=True, primary=True)] if email else []

    def _verified_email(self, claims: dict[str, Any]) -> str:
        """The address that the provider vouches for; empty for one that it does not, which anybody could have typed."""
        email = str(claims.get("email") or "")
        # Some providers send booleans as text, where "false" would count as true.
        is_verified = claims.get("email_verified") in (True, "true")
        is_trusted = email.partition("@")[2].lower() in self.configured.trusted_email_domains
        return email if is_verified or is_trusted else ""
