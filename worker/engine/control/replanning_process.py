"""Asks how the run should go on in a process of its own, so that planning delays neither the loop nor any lane."""

import logging
import os
import subprocess
import sys
import tempfile
import time
from typing import IO

from pydantic import ValidationError

from worker.scheduling.replanning.question import ReplanAnswer, ReplanQuestion

logger = logging.getLogger(__name__)

MAX_SECONDS = 300.0
"""How long an answer may take. Planning takes seconds of a core; at the lowest priority on a busy machine, minutes."""


class ReplanningProcess:
    """One question at a time: `ask`, then `take_answer` until it is there."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._deadline = 0.0
        self.cpu_seconds = 0.0
        """Seconds of a core that the last process to end took."""

    @property
    def is_busy(self) -> bool:
        return self._process is not None

    def ask(self, question: ReplanQuestion) -> None:
        """Start a process that answers `question`. It reads and writes files, since a pipe could block the driver."""
        with tempfile.TemporaryFile() as file:
            file.write(question.model_dump_json().encode())
            file.seek(0)
            self._output = tempfile.TemporaryFile()  # noqa: SIM115, closed once the answer is read
            self._process = subprocess.Popen(
                [sys.executable, "-m", "worker.scheduling.replanning"],
                stdin=file,
                stdout=self._output,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
        self._deadline = time.monotonic() + MAX_SECONDS

    def take_answer(self) -> ReplanAnswer | None:
        """The answer, once; `None` while there is none, and after a failure, which is logged: the run goes on as it
        is."""
        if self._process is None or self._output is None:
            return None
        status = self._ended(self._process, os.WNOHANG)
        if status is None:
            if time.monotonic() > self._deadline:
                logger.warning("re-planning took longer than %.0f s and was given up", MAX_SECONDS)
                self.close()
            return None
        self._output.seek(0)
        written = self._output.read()
        self.close()
        try:
            if status == 0:
                return ReplanAnswer.model_validate_json(written)
            logger.warning("re-planning failed with exit status %d: the run goes on as it is", status)
        except ValidationError as error:
            logger.warning("re-planning gave no answer: %s", error)
        return None

    def _ended(self, process: "subprocess.Popen[bytes]", flags: int = 0) -> int | None:
        """Wait for the process; with `os.WNOHANG`, `None` while it works. Only who waits is told what it took."""
        pid, status, usage = os.wait4(process.pid, flags)
        if not pid:
            return None
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        return process.returncode

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            self._ended(self._process)
        if self._output is not None:
            self._output.close()
        self._process = self._output = None
