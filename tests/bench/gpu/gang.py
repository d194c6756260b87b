"""Processes that compute together, each on a card of its own, and rank 0's rows as they come.

Gang ─ starts ─► python -m MODULE RANK SIZE PORT ARGUMENTS…        a process for each rank
  row() ◄─────── one line of JSON ◄─ report(row) of rank 0
  GangError ◄─── the last lines of standard error of every rank that failed
"""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import torch

from tests.bench.gpu.bench_report import Row
from tests.bench.rank_devices import rank_environment

ROOT = Path(__file__).resolve().parents[3]
POLL_SECONDS = 0.2
LAST_CHARACTERS = 4000
"""Of a rank's standard error that a failure shows: its traceback, without what libraries warned before."""


class GangError(RuntimeError):
    """A rank ended, or said nothing in time; with what the ranks wrote last."""


class Gang:
    """The processes of one module, for as long as this is open."""

    def __init__(self, module: str, arguments: Sequence[str], *, size: int, port: int, folder: Path) -> None:
        """Start them; what they write to standard error is kept in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        self._logs = [folder / f"{module.rpartition('.')[2]}-rank-{rank}.log" for rank in range(size)]
        command = [sys.executable, "-m", module]
        self._ranks = [
            self._started([*command, str(rank), str(size), str(port), *arguments], rank) for rank in range(size)
        ]
        self._lines: queue.Queue[str] = queue.Queue()
        output = self._ranks[0].stdout
        assert output is not None
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def row(self, seconds: float) -> Row:
        """Rank 0's next row.

        Raises:
            GangError: when a rank has failed, or nothing came for `seconds`.
            torch.OutOfMemoryError: when a rank has failed because its device's memory was used up.
        """
        until = time.monotonic() + seconds
        while True:
            try:
                row: Row = json.loads(self._lines.get(timeout=POLL_SECONDS))
            except queue.Empty:
                self._check(is_late=time.monotonic() > until)
            else:
                return row

    def _check(self, *, is_late: bool) -> None:
        codes = [rank.poll() for rank in self._ranks]
        if not any(codes) and not is_late:
            return
        failed = [log for log, code in zip(self._logs, codes, strict=True) if code or is_late]
        said = "\n".join(f"{log.stem}: {log.read_text(errors='replace')[-LAST_CHARACTERS:]}" for log in failed)
        if torch.OutOfMemoryError.__name__ in said:
            raise torch.OutOfMemoryError(said)
        raise GangError(f"the ranks {'did not answer in time' if is_late else f'ended with {codes}'}:\n{said}")

    def _started(self, command: Sequence[str], rank: int) -> subprocess.Popen[str]:
        with self._logs[rank].open("w") as log:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=rank_environment(rank),
                # Only rank 0 has something to say.
                stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
                stderr=log,
                text=True,
            )

    def _read(self, output: IO[str]) -> None:
        for line in output:
            # Libraries print while they are imported, before the rank's `reporter` is made.
            if line.startswith("{"):
                self._lines.put(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for rank in self._ranks:
            rank.kill()
        for rank in self._ranks:
            rank.wait()
