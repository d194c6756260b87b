"""Several trainer ranks over gloo, each a process of its own that a test starts and whose result it reads.

```text
test ─ run_rank_processes(module, task) ─► server that has imported the libraries ─ fork ─► module.run(task, …)
     ◄─ each rank's result ◄──────────────────── FOLDER/rank-<rank>.pt ◄────────────────────────────┘
```

Ranks are forked, since importing the libraries takes a process longer than what most tests have it do.
"""

import faulthandler
import gc
import importlib
import os
import signal
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, TypeGuard

import pytest
import torch

from worker.engine.trainer.zero.process_group import destroy_process_group, free_port, init_process_group

HANG_SECONDS = 280
"""Ranks that wait for each other forever are ended before pytest's own limit of 300 s, so that the test shows their
output."""

Run = Callable[[Any, int, int, Path], Any]
"""(task, rank, world size, a folder that the ranks share) → the rank's result."""


@cache
def forked_processes() -> ForkServerContext:
    """Starts processes that have imported what trainer and rollout lanes do; what they see of the
    environment is what the first one saw, without accelerators."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.engine.rank_libraries"])
    return context


def each_case(
    cases: Sequence[Any], *, of_full_tests: Collection[Any], ids: Callable[[Any], str]
) -> pytest.MarkDecorator:
    """Parametrises `case`; those `of_full_tests` are left to `make test-full`."""
    marked = [
        pytest.param(case, id=ids(case), marks=[pytest.mark.slow] if case in of_full_tests else []) for case in cases
    ]
    return pytest.mark.parametrize("case", marked)


def selected_cases(request: pytest.FixtureRequest, name: str = "case") -> list[Any]:
    """The cases of the module's tests that are about to run, by the name of their parameter: processes need not work
    through the others."""
    params = [item.callspec.params for item in request.session.items if _is_of(item, request)]
    return list(dict.fromkeys(each[name] for each in params if name in each))


def _is_of(item: pytest.Item, request: pytest.FixtureRequest) -> TypeGuard[pytest.Function]:
    return item.path == request.path and isinstance(item, pytest.Function) and hasattr(item, "callspec")


def run_rank_processes(module: str, task: Any, folder: Path, *, world_size: int = 2) -> list[Any]:
    """The result of each rank for `task`; if one fails, the test fails with their output.

    Args:
        module: has a function `run`, see `Run`.
        task: handed to every rank.
        folder: an empty folder that the ranks share.
        world_size: the number of ranks.
    """
    torch.save(task, folder / "task.pt")
    port, environment = free_port(), dict(os.environ)
    with ExitStack() as stack:
        started: list[ForkServerProcess] = []
        for rank in range(world_size):
            arguments = (module, rank, world_size, port, folder, environment)
            started.append(forked_processes().Process(target=_run_rank, args=arguments))
            started[-1].start()
            stack.callback(started[-1].kill)
        codes = _wait(started)
        for process in started:
            # `faulthandler` prints the stacks of a rank that still runs.
            if process.exitcode is None and process.pid:
                os.kill(process.pid, signal.SIGABRT)
        for process in started:
            process.join()
    if codes != [0] * world_size:
        logs = [folder / f"rank-{rank}.log" for rank in range(world_size)]
        printed = [log.read_text() if log.exists() else "" for log in logs]
        pytest.fail(f"the ranks ended with {codes}:\n" + "\n".join(printed))
    return [torch.load(folder / f"rank-{rank}.pt", weights_only=False) for rank in range(world_size)]


def _wait(started: list[ForkServerProcess]) -> list[int | None]:
    """The exit codes once all have ended, one has failed or time is up; `None` for a process that still runs."""
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        codes = [process.exitcode for process in started]
        if None not in codes or any(codes) or time.monotonic() > deadline:
            return codes
        time.sleep(0.02)


def _run_rank(module: str, rank: int, world_size: int, port: int, folder: Path, environment: dict[str, str]) -> None:
    """The main program of one rank process."""
    log = os.open(folder / f"rank-{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.environ.clear()
    os.environ.update(environment)
    faulthandler.enable()
    torch.set_num_threads(1)
    # The server neither collects nor computes before a fork.
    gc.enable()
    run: Run = importlib.import_module(module).run
    # DeepSpeed collects garbage at every start in ZeRO 3, which need not look at the modules just imported.
    gc.freeze()
    init_process_group(rank, world_size, "127.0.0.1", port)
    result = run(torch.load(folder / "task.pt", weights_only=False), rank, world_size, folder)
    torch.save(result, folder / f"rank-{rank}.pt")
    destroy_process_group()
