"""Which scope an API token needs for which method of which address; a browser's session needs none."""

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.models import TokenScope, User

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.views import APIView


class TokenMay(BasePermission):
    """Reading needs no scope. A method that writes needs its view's `write_scope`, and `admin` where the view names
    none, so that a view that forgot to opens nothing."""

    message = ""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        limits = request.user.token_limits if isinstance(request.user, User) else None
        needed = needed_scope(type(view), request.method or "")
        if limits is None or limits.allows(needed):
            return True
        held = ", ".join(sorted(limits.scopes))
        self.message = f"this needs a token with the scope `{needed}`, yours has {held}: make another one"
        return False


def needed_scope(view: "type[APIView]", method: str) -> TokenScope:
    """The scope that a token needs for this method of the view."""
    if method in SAFE_METHODS:
        return TokenScope.READ
    scope: TokenScope = getattr(view, "write_scope", TokenScope.ADMIN)
    return scope
