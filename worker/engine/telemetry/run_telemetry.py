"""The telemetry of a run: its client, uploader and log capture, closed in an order that loses nothing.

Invariant: the run token is held in these objects alone: in memory, never in the environment, never sent to an actor.
"""

import logging
from types import TracebackType
from typing import Self

from worker.contracts.events import StateEvent
from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.states import RunState
from worker.engine.telemetry.artifact_uploader import ArtifactUploader
from worker.engine.telemetry.log_forwarding import ForwardingHandler, LogForwarder
from worker.engine.telemetry.spool import Spool
from worker.engine.telemetry.telemetry_client import TelemetryClient

UPLOAD_SECONDS = 90.0
"""How long the end of a run waits for uploads without progress: longer than all tries of one file take."""
FLUSH_SECONDS = 60.0
"""How long the end of a run waits for the web to acknowledge all events; beyond that the web learns of the end from
Ray."""
MAX_DETAILS_CHARACTERS = 20_000
"""The most characters of a failure's traceback that are reported, counted from its end."""


class TerminatedError(Exception):
    """The driver received SIGTERM: the job is being stopped from outside."""


class RunTelemetry:
    """A context manager: its threads start on entry and end on exit."""

    def __init__(self, base_url: str, answer: BootstrapAnswer) -> None:
        spool = Spool(first_seq=answer.first_seq)
        run, attempt, token = str(answer.run), answer.attempt, answer.token
        self.client = TelemetryClient(base_url, run=run, attempt=attempt, token=token, spool=spool)
        self.uploader = ArtifactUploader(base_url, run=run, attempt=attempt, token=token)
        self.logs = LogForwarder(self.client)
        self._handler = ForwardingHandler(self.logs)
        self._is_terminated = False

    def __enter__(self) -> Self:
        logger = logging.getLogger("worker")
        logger.setLevel(logging.INFO)
        logger.addHandler(self._handler)
        self.client.start()
        self.uploader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger("worker").removeHandler(self._handler)
        self.uploader.close()
        self.client.close()

    def terminate(self) -> None:
        """Make the next `check` raise `TerminatedError`. For a signal handler, which must not raise it itself: Ray's
        calls turn an exception that is raised inside them into a `SystemError`."""
        self._is_terminated = True

    def check(self) -> None:
        """Raise what must end the run: `TerminatedError`, `FencedError`, `WebRefusedError` or a bug of a thread."""
        if self._is_terminated:
            raise TerminatedError
        self.client.check()
        self.uploader.check()

    def finish(self, state: RunState, *, reason: str = "", details: str = "") -> bool:
        """Report the run's end state, after all uploads, since the web refuses those of an ended run.

        Returns:
            Whether everything has arrived.
        """
        is_uploaded = self.uploader.drain(UPLOAD_SECONDS)
        if self.uploader.num_failed or self.uploader.num_dropped:
            logging.getLogger(__name__).warning(
                "%d artifacts could not be uploaded, %d more were dropped while the web was unreachable",
                self.uploader.num_failed,
                self.uploader.num_dropped,
            )
        self.client.emit(StateEvent, state=state, reason=reason, details=details[-MAX_DETAILS_CHARACTERS:])
        return self.client.flush(FLUSH_SECONDS) and is_uploaded
