"""Several trainer ranks over gloo, each a process of its own that a test starts and whose result it reads.

```text
test ─ run_rank_processes(module, task) ─► python -m module RANK WORLD PORT FOLDER ─► run_worker(run) ─► run(task, …)
     ◄─ each rank's result ◄──────────────────── FOLDER/rank-<rank>.pt ◄───────────────────────┘
```
"""

import faulthandler
import gc
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeGuard

import pytest
import torch

from tests.engine.conftest import free_port
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group

ROOT = Path(__file__).resolve().parents[2]
HANG_SECONDS = 280
"""Ranks that wait for each other forever are ended before pytest's own limit of 300 s, so that the test shows their
output."""

Run = Callable[[Any, int, int, Path], Any]
"""(task, rank, world size, a folder that the ranks share) → the rank's result."""


def each_case(
    cases: Sequence[Any], *, of_full_tests: Collection[Any], ids: Callable[[Any], str]
) -> pytest.MarkDecorator:
    """Parametrises `case`; those `of_full_tests` are left to `make test-full`."""
    marked = [
        pytest.param(case, id=ids(case), marks=[pytest.mark.slow] if case in of_full_tests else []) for case in cases
    ]
    return pytest.mark.parametrize("case", marked)


def selected_cases(request: pytest.FixtureRequest) -> list[Any]:
    """The cases of the module's tests that are about to run: ranks need not work through the others."""
    params = [item.callspec.params for item in request.session.items if _is_of(item, request)]
    return list(dict.fromkeys(each["case"] for each in params if "case" in each))


def _is_of(item: pytest.Item, request: pytest.FixtureRequest) -> TypeGuard[pytest.Function]:
    return item.path == request.path and isinstance(item, pytest.Function) and hasattr(item, "callspec")


def run_rank_processes(module: str, task: Any, folder: Path, *, world_size: int = 2) -> list[Any]:
    """The result of each rank for `task`; if one fails, the test fails with their output.

    Args:
        module: calls `run_worker` when it is run.
        task: handed to every rank.
        folder: an empty folder that the ranks share.
        world_size: the number of ranks.
    """
    torch.save(task, folder / "task.pt")
    port = str(free_port())
    with ExitStack() as stack:
        started: list[subprocess.Popen[bytes]] = []
        for rank in range(world_size):
            log = stack.enter_context((folder / f"rank-{rank}.log").open("wb"))
            command = [sys.executable, "-m", module, str(rank), str(world_size), port, str(folder)]
            started.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT))
            stack.callback(started[-1].kill)
        codes = _wait(started)
        for process in started:
            # `faulthandler` prints the stacks of a rank that still runs.
            process.send_signal(signal.SIGABRT)
        for process in started:
            process.wait()
    if codes != [0] * world_size:
        printed = [(folder / f"rank-{rank}.log").read_text() for rank in range(world_size)]
        pytest.fail(f"the ranks ended with {codes}:\n" + "\n".join(printed))
    return [torch.load(folder / f"rank-{rank}.pt", weights_only=False) for rank in range(world_size)]


def _wait(started: list[subprocess.Popen[bytes]]) -> list[int | None]:
    """The exit codes once all have ended, one has failed or time is up; `None` for a process that still runs."""
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        codes = [process.poll() for process in started]
        if None not in codes or any(codes) or time.monotonic() > deadline:
            return codes
        time.sleep(0.02)


def run_worker(run: Run) -> None:
    """The main program of one rank process."""
    faulthandler.enable()
    rank, world_size, port, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    torch.set_num_threads(1)
    # DeepSpeed collects garbage at every start in ZeRO 3, which need not look at the modules just imported.
    gc.freeze()
    init_process_group(rank, world_size, "127.0.0.1", port)
    result = run(torch.load(folder / "task.pt", weights_only=False), rank, world_size, folder)
    torch.save(result, folder / f"rank-{rank}.pt")
    destroy_process_group()
