"""What an API token may do of what its user may: by scope, by project, by pool.

The limits stand on the user that a request was authenticated as, so that `accounts.access`, which everything asks,
knows them. A session of a browser has none.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import PermissionDenied

from accounts.models import ApiToken, ProjectRole, TokenScope

ROLE_OF = {
    TokenScope.ADMIN: ProjectRole.OWNER,
    TokenScope.RUN: ProjectRole.EDITOR,
    TokenScope.POOL: ProjectRole.VIEWER,
    TokenScope.READ: ProjectRole.VIEWER,
}
"""The highest role in a project that a scope lets its token use."""


@dataclass(frozen=True, slots=True)
class TokenLimits:
    token_key: str
    scopes: frozenset[TokenScope]
    """Every token may read."""
    projects: frozenset[UUID] | None
    """None: every project of the user."""
    pools: frozenset[str] | None
    """None: every pool."""
    expires_at: datetime | None

    @property
    def highest_role(self) -> ProjectRole:
        return max((ROLE_OF[scope] for scope in self.scopes), key=list(ProjectRole).index)

    def allows(self, scope: TokenScope) -> bool:
        return scope in self.scopes

    def require_pools(self, pools: Collection[str] | None) -> None:
        """Raises `PermissionDenied` for a token of other pools; `None` is what concerns all of them."""
        if self.pools is None:
            return
        mine = ", ".join(sorted(self.pools))
        if not pools:
            raise PermissionDenied(f"this concerns more than the pools that your token is limited to: {mine}")
        if others := sorted(set(pools) - self.pools):
            raise PermissionDenied(f"your token is limited to the pools {mine}, this is of {', '.join(others)}")


def limits_of(token: ApiToken) -> TokenLimits:
    """The limits of a stored token. A token whose projects were all deleted may see none."""
    projects = frozenset(token.projects.values_list("pk", flat=True)) if token.is_limited_to_projects else None
    return TokenLimits(
        token_key=token.token_key,
        scopes=frozenset({TokenScope.READ, *map(TokenScope, token.scopes)}),
        projects=projects,
        pools=frozenset(token.pools) if token.pools else None,
        expires_at=token.expiry,
    )
