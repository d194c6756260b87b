"""`client.tokens` and `client.prompts`."""

from collections.abc import Mapping, Sequence
from typing import Any

from tandem import rest_models
from tandem.asynchronous.project_names import project_id
from tandem.asynchronous.session import Session
from tandem.protocol import API


class Tokens:
    """The user's API tokens. Making and revoking them needs the scope `admin`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(self) -> list[rest_models.Token]:
        items = self._session.items(f"{API}/tokens")
        return [rest_models.Token.model_validate(item) async for item in items]

    async def create(
        self, name: str, *, scopes: Sequence[str] = ("read",), expires_in_days: int = 90
    ) -> rest_models.CreatedToken:
        """A token, whose secret `token` is told this once."""
        body = {"name": name, "scopes": [*scopes], "expires_in_days": expires_in_days}
        return rest_models.CreatedToken.model_validate(await self._session.post(f"{API}/tokens", body))

    async def revoke(self, token_id: str) -> None:
        await self._session.delete(f"{API}/tokens/{token_id}")


class Prompts:
    """Sets of prompts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(self, *, project: str = "") -> "list[rest_models.ListedPromptSet]":
        wanted = await project_id(self._session, project) if project else None
        items = self._session.items(f"{API}/prompt-sets", project=wanted)
        return [rest_models.ListedPromptSet.model_validate(item) async for item in items]

    async def push(
        self, name: str, prompts: Sequence[str | Mapping[str, Any]], *, project: str = ""
    ) -> rest_models.PromptSet:
        """Store a set under a new name; a prompt is its text, or a document with `text`, `negative`, `metadata`."""
        body = {"project": await project_id(self._session, project), "name": name, "prompts": [*prompts]}
        return rest_models.PromptSet.model_validate(await self._session.post(f"{API}/prompt-sets", body))
