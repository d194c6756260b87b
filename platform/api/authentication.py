"""Who calls REST: knox's tokens, noted for the audit log, or a browser's session."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication as KnoxTokenAuthentication
from rest_framework.request import Request

from audit.request_context import note_token


class TokenAuthentication(KnoxTokenAuthentication):
    """knox's, and what the request changes is recorded with the token that it carried."""

    def authenticate(self, request: Request) -> Any:
        """`(user, token)`, or None for a request without a token. Raises `AuthenticationFailed`."""
        found = super().authenticate(request)
        if found is not None:
            note_token(found[1].token_key)
        return found


class BearerScheme(OpenApiAuthenticationExtension):
    """How the OpenAPI schema describes it."""

    target_class = "api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token, made under `/api/v1/tokens`."}
