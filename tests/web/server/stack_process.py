"""A small `up`, run as a process of its own by the tests: a supervisor with two awkward processes under it.

Argument: a folder. Writes every pid below itself to `<folder>/pids`, then serves until it ends.
"""

import signal
import subprocess
import sys
from pathlib import Path

import psutil

from server.errors import CannotStartError
from server.stack.stopping import StopRequested, end_with_parent, stop_signals
from server.supervisor.client import running_stack
from server.supervisor.process_spec import ProcessSpec, base_environment

# Ignores SIGTERM, and leaves a grandchild that detached itself from session and parent, as Ray's daemons do.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
open({mark!r}, "w").close()
time.sleep(600)
"""


def serve(folder: Path) -> None:
    mark = folder / "detached"
    env = base_environment()
    with running_stack(folder / "logs") as stack:
        code = STUBBORN.format(mark=str(mark))
        stack.start(ProcessSpec(name="stubborn", argv=(sys.executable, "-c", code), env=env, stop_seconds=0.3))
        stack.start(ProcessSpec(name="polite", argv=("sleep", "600"), env=env, max_restarts=2, ends_last=True))
        while not mark.exists():
            stack.listen(0.05)
        below = [process.pid for process in psutil.Process().children(recursive=True)]
        (folder / "pids.part").write_text(" ".join(map(str, below)))
        (folder / "pids.part").rename(folder / "pids")
        while True:
            restarts = {state.name: state.num_restarts for state in stack.states.values()}
            (folder / "restarts").write_text(str(restarts))
            stack.listen(0.1)


def main() -> int:
    folder = Path(sys.argv[1])
    if "--with-parent" in sys.argv:
        end_with_parent()
    if "--under-make" in sys.argv:
        # Stands in for make: it only waits for the command it started.
        return subprocess.call([sys.executable, __file__, str(folder), "--with-parent"])
    with stop_signals():
        try:
            serve(folder)
        except StopRequested as request:
            print(f"stopped by {request}")
            return 0
        except CannotStartError as error:
            print(error)
            return 3
    return signal.SIGABRT


if __name__ == "__main__":
    sys.exit(main())
