"""`client.pool`."""

from datetime import datetime

from tandem import rest_models
from tandem.asynchronous.session import Session
from tandem.errors import NotFound
from tandem.protocol import API


class Pool:
    """The nodes that runs get their lanes from. Changing them needs a pool admin's token with the scope `pool`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def nodes(self) -> list[rest_models.PoolNode]:
        items = self._session.items(f"{API}/nodes")
        return [rest_models.PoolNode.model_validate(item) async for item in items]

    async def cordon(self, node: str, *, reason: str) -> rest_models.PoolNode:
        """Give the node, named by its name or address, no further work; what runs there goes on. Others read the
        reason."""
        return await self._act(node, "cordon", reason)

    async def drain(self, node: str, *, reason: str, until: datetime | None = None) -> rest_models.PoolNode:
        """Move the work away, by `until` at the latest, and give the node none."""
        return await self._act(node, "drain", reason, until)

    async def resume(self, node: str) -> rest_models.PoolNode:
        """Return the node to work."""
        return await self._act(node, "resume", "")

    async def _act(self, node: str, action: str, reason: str, until: datetime | None = None) -> rest_models.PoolNode:
        nodes = await self.nodes()
        found = next((each for each in nodes if node in (each.name, each.address)), None)
        if found is None:
            known = ", ".join(each.name for each in nodes) or "none"
            raise NotFound(status=404, title="Not Found", detail=f"the pool has no node {node!r}; it has: {known}")
        body = {"action": action, "reason": reason, "until": until.isoformat() if until else None}
        answer = await self._session.post(f"{API}/nodes/{found.id}/actions", body)
        return rest_models.PoolNode.model_validate(answer)
