# Written by `generate.py` from `asynchronous/sweep_calls.py`.
"""`client.sweeps`."""

from time import sleep
from collections.abc import Iterator
from typing import Any

from pydantic import PrivateAttr

from tandem import rest_models
from tandem.synchronous.project_names import project_id
from tandem.synchronous.session import Session
from tandem.errors import NotFound
from tandem.polling import poll_waits
from tandem.protocol import API, Spec, is_id, spec_document

SWEEP_SECONDS = 5.0
"""Sweeps take hours, and one is read whole."""


class Sweep(rest_models.Sweep):
    """A sweep as it was when it was read."""

    _session: Session = PrivateAttr()

    def reload(self) -> "Sweep":
        """The sweep as it is now."""
        return _attached(self._session.get(self._path), self._session)

    def wait(self, *, timeout: float | None = None) -> "Sweep":
        """The sweep once it has ended.

        Raises:
            TimeoutError: it has not ended after `timeout` seconds.
        """
        waits = poll_waits(SWEEP_SECONDS, timeout)
        with self._session.patiently():
            while (sweep := self.reload()).ended_at is None:
                if (seconds := next(waits, None)) is None:
                    raise TimeoutError(f"sweep {self.name!r} is {sweep.state} after {timeout} s")
                sleep(seconds)
        return sweep

    def stop(self) -> "Sweep":
        """Stop its runs, and start no more."""
        return _attached(self._session.post(f"{self._path}/stop", None), self._session)

    def delete(self) -> None:
        """Delete an ended sweep. Its runs stay."""
        self._session.delete(self._path)

    @property
    def _path(self) -> str:
        return f"{API}/sweeps/{self.id}"


class Sweeps:
    """The sweeps that the token may see."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(self, *, project: str = "", state: str = "") -> Iterator[rest_models.ListedSweep]:
        """Sweeps, newest first; pages are read as they are needed.

        Args:
            project: its id, name or slug.
            state: running, stopping, stopped or completed.
        """
        wanted = project_id(self._session, project) if project else None
        for item in self._session.items(f"{API}/sweeps", project=wanted, state=state):
            yield rest_models.ListedSweep.model_validate(item)

    def get(self, sweep: str) -> Sweep:
        """A sweep by its id, or the newest one of that name.

        Raises:
            NotFound: there is none that the token may see.
        """
        found = sweep if is_id(sweep) else self._id_of_name(sweep)
        return _attached(self._session.get(f"{API}/sweeps/{found}"), self._session)

    def create(self, sweep: Spec, *, project: str = "") -> Sweep:
        """Make a sweep of a document, of YAML text or of a file.

        Args:
            project: its id, name or slug; not needed where the token sees one project only.

        Raises:
            Invalid: it, or one of its points, has errors; `errors` has them by field.
        """
        return _attached(self._session.post(f"{API}/sweeps", self._asked(sweep, project)), self._session)

    def preview(self, sweep: Spec, *, project: str = "") -> rest_models.SweepPreview:
        """The points that it would run; nothing is made. Raises `Invalid`."""
        answer = self._session.post(f"{API}/sweeps:preview", self._asked(sweep, project))
        return rest_models.SweepPreview.model_validate(answer)

    def _asked(self, sweep: Spec, project: str) -> dict[str, Any]:
        return {"project": project_id(self._session, project), "sweep": spec_document(sweep)}

    def _id_of_name(self, name: str) -> str:
        for item in self._session.items(f"{API}/sweeps"):
            if item["name"] == name:
                return str(item["id"])
        raise NotFound(status=404, title="Not Found", detail=f"there is no sweep named {name!r} that you may see")


def _attached(answer: Any, session: Session) -> Sweep:
    sweep = Sweep.model_validate(answer)
    sweep._session = session
    return sweep
