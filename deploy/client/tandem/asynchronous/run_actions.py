"""What a run is told. Each command is an operation, which says what became of it: `run.pause().wait()`."""

from collections.abc import Mapping, Sequence
from typing import Any

from tandem.asynchronous.operation_calls import Operation, read_operation
from tandem.asynchronous.run_telemetry import RunTelemetry


class RunActions(RunTelemetry):
    """A run's id with the commands of every run.

    Each raises `Conflict`, which names the run's state and what is possible in it, where it is not.
    """

    async def pause(self) -> Operation:
        """Free the lanes after the batch under way, and keep the run to be resumed."""
        return await self._act("pause")

    async def resume(self) -> Operation:
        """Go on with a paused or stopped run."""
        return await self._act("resume")

    async def stop(self) -> Operation:
        """End after the batch under way, with a checkpoint and an adapter."""
        return await self._act("stop")

    async def cancel(self) -> Operation:
        """End at once."""
        return await self._act("cancel")

    async def checkpoint_now(self) -> Operation:
        """Write a checkpoint after the batch under way."""
        return await self._act("checkpoint_now")

    async def sample_now(self, prompts: Sequence[str] = ()) -> Operation:
        """Make samples after the batch under way; without prompts, of those that the run evaluates."""
        return await self._act("sample_now", prompts=[*prompts])

    async def resize(
        self,
        *,
        add: Mapping[str, int] | None = None,
        release: Sequence[str] = (),
        change: Mapping[str, str] | None = None,
    ) -> Operation:
        """Let lanes join and leave the run, or change their roles, while it trains.

        Args:
            add: how many lanes of each role are to join, from those that the pool has free.
            release: ids of lanes that are to leave, as `size()` lists them.
            change: the new role of a lane, by its id.

        Raises:
            Invalid: the run would lack a role that it needs, or the pool has no such lanes.
        """
        body = {
            "add": [{"role": role, "number": number} for role, number in (add or {}).items()],
            "release": [*release],
            "change": [{"lane": lane, "role": role} for lane, role in (change or {}).items()],
        }
        return await self._begin("resize", body)

    async def _act(self, action: str, **more: Any) -> Operation:
        return await self._begin("actions", {"action": action, **more})

    async def _begin(self, what: str, body: Mapping[str, Any]) -> Operation:
        begun = await self._session.post(f"{self._path}/{what}", body)
        return await read_operation(self._session, begun["operation"])
