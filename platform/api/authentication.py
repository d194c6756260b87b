"""Authentication of REST by knox's tokens, which the audit log records. Browsers use their session instead."""

import re
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication as KnoxTokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from accounts.models import ApiToken
from accounts.token_limits import limits_of
from accounts.wrong_secrets import seconds_to_wait
from audit.request_context import note_token

USE_NOTED_EVERY = timedelta(minutes=1)
"""A script may send hundreds of requests a minute: its token's last use is written once."""


_TOKEN = re.compile(r"[ -~]*")
"""Of what the header may be made of; knox looks for anything else in the database, which refuses it."""


class TokenAuthentication(KnoxTokenAuthentication):
    """knox's authentication, which also puts the token's limits on the user, and notes the token for the audit records
    of what the request changes."""

    def authenticate(self, request: Request) -> Any:
        """`(user, token)`, or None for a request without a token. Raises `AuthenticationFailed`, and `Throttled` after
        too many wrong tokens."""
        sent = request.headers.get("Authorization", "")
        if not sent:
            return None
        try:
            if not _TOKEN.fullmatch(sent):
                raise AuthenticationFailed("Invalid token.")
            found = super().authenticate(request)
        except AuthenticationFailed as error:
            if wait := seconds_to_wait(request, sent):
                raise Throttled(wait) from error
            raise
        if found is not None:
            user, token = found
            user.token_limits = limits_of(token)
            note_token(token.token_key)
            _note_use(token)
        return found

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """knox's hook: whether the token has expired; then it is deleted. knox's own reads all of the user's tokens for
        each request, to delete those that have."""
        if auth_token.expiry is None or auth_token.expiry >= timezone.now():
            return False
        auth_token.delete()
        return True


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at >= USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


class BearerScheme(OpenApiAuthenticationExtension):
    """The description of `TokenAuthentication` in the OpenAPI schema."""

    target_class = "api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token, made under `/api/v1/tokens`."}
