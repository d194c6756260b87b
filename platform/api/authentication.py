"""Authentication of REST by knox's tokens, which the audit log records. Browsers use their session instead."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication as KnoxTokenAuthentication
from rest_framework.request import Request

from audit.request_context import note_token


class TokenAuthentication(KnoxTokenAuthentication):
    """knox's authentication, which also notes the token for the audit records of what the request changes."""

    def authenticate(self, request: Request) -> Any:
        """`(user, token)`, or None for a request without a token. Raises `AuthenticationFailed`."""
        found = super().authenticate(request)
        if found is not None:
            note_token(found[1].token_key)
        return found


class BearerScheme(OpenApiAuthenticationExtension):
    """The description of `TokenAuthentication` in the OpenAPI schema."""

    target_class = "api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token, made under `/api/v1/tokens`."}
