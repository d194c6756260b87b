"""The process of one session: `python -m mirrors.backends` reads a job from its input and writes an answer beside it.

It ends with an error's text as its last line where the tool did not take everything, and at once when its input ends:
then nobody waits for the answer, and another session begins where this one did.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from mirrors.backends.reachable import check_reachable
from mirrors.backends.session_words import ANSWER_FILE, Answer, Job

NICENESS = 10
"""Mirrors yield to everything else on the machine."""
WRITERS = {
    "wandb": "wandb_runs",
    "wandb_offline": "wandb_runs",
    "mlflow": "mlflow_runs",
    "tensorboard": "tensorboard_files",
}
"""The module of each kind, whose `write` loads the tool."""


def main() -> int:
    os.nice(NICENESS)
    job: Job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        if job["proxy"]:
            check_reachable(job["address"], job["proxy"])
        write: Callable[[Job], Answer] = import_module(f"mirrors.backends.{WRITERS[job['kind']]}").write
        answer = write(job)
    except Exception as error:
        sys.stderr.write("\n" + " ".join(f"{type(error).__name__}: {error}".split()) + "\n")
        return 1
    Path(job["work"], ANSWER_FILE).write_text(json.dumps(answer))
    return 0


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    # Tools leave threads and hooks for the end of the process that may wait for servers.
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
