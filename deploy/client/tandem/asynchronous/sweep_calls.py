"""`client.sweeps`."""

from asyncio import sleep
from collections.abc import AsyncIterator
from typing import Any

from pydantic import PrivateAttr

from tandem import rest_models
from tandem.asynchronous.project_names import project_id
from tandem.asynchronous.session import Session
from tandem.errors import NotFound
from tandem.polling import poll_waits
from tandem.protocol import API, Spec, is_id, spec_document

SWEEP_SECONDS = 5.0
"""Sweeps take hours, and one is read whole."""


class Sweep(rest_models.Sweep):
    """A sweep as it was when it was read."""

    _session: Session = PrivateAttr()

    async def reload(self) -> "Sweep":
        """The sweep as it is now."""
        return _attached(await self._session.get(self._path), self._session)

    async def wait(self, *, timeout: float | None = None) -> "Sweep":
        """The sweep once it has ended.

        Raises:
            TimeoutError: it has not ended after `timeout` seconds.
        """
        waits = poll_waits(SWEEP_SECONDS, timeout)
        with self._session.patiently():
            while (sweep := await self.reload()).ended_at is None:
                if (seconds := next(waits, None)) is None:
                    raise TimeoutError(f"sweep {self.name!r} is {sweep.state} after {timeout} s")
                await sleep(seconds)
        return sweep

    async def stop(self) -> "Sweep":
        """Stop its runs, and start no more."""
        return _attached(await self._session.post(f"{self._path}/stop", None), self._session)

    async def delete(self) -> None:
        """Delete an ended sweep. Its runs stay."""
        await self._session.delete(self._path)

    @property
    def _path(self) -> str:
        return f"{API}/sweeps/{self.id}"


class Sweeps:
    """The sweeps that the token may see."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(self, *, project: str = "", state: str = "") -> AsyncIterator[rest_models.ListedSweep]:
        """Sweeps, newest first; pages are read as they are needed.

        Args:
            project: its id, name or slug.
            state: running, stopping, stopped or completed.
        """
        wanted = await project_id(self._session, project) if project else None
        async for item in self._session.items(f"{API}/sweeps", project=wanted, state=state):
            yield rest_models.ListedSweep.model_validate(item)

    async def get(self, sweep: str) -> Sweep:
        """A sweep by its id, or the newest one of that name.

        Raises:
            NotFound: there is none that the token may see.
        """
        found = sweep if is_id(sweep) else await self._id_of_name(sweep)
        return _attached(await self._session.get(f"{API}/sweeps/{found}"), self._session)

    async def create(self, sweep: Spec, *, project: str = "") -> Sweep:
        """Make a sweep of a document, of YAML text or of a file.

        Args:
            project: its id, name or slug; not needed where the token sees one project only.

        Raises:
            Invalid: it, or one of its points, has errors; `errors` has them by field.
        """
        return _attached(await self._session.post(f"{API}/sweeps", await self._asked(sweep, project)), self._session)

    async def preview(self, sweep: Spec, *, project: str = "") -> rest_models.SweepPreview:
        """The points that it would run; nothing is made. Raises `Invalid`."""
        answer = await self._session.post(f"{API}/sweeps:preview", await self._asked(sweep, project))
        return rest_models.SweepPreview.model_validate(answer)

    async def _asked(self, sweep: Spec, project: str) -> dict[str, Any]:
        return {"project": await project_id(self._session, project), "sweep": spec_document(sweep)}

    async def _id_of_name(self, name: str) -> str:
        async for item in self._session.items(f"{API}/sweeps"):
            if item["name"] == name:
                return str(item["id"])
        raise NotFound(status=404, title="Not Found", detail=f"there is no sweep named {name!r} that you may see")


def _attached(answer: Any, session: Session) -> Sweep:
    sweep = Sweep.model_validate(answer)
    sweep._session = session
    return sweep
