"""Whether lanes are forked, and the start of the server that forks them."""

import os
import subprocess
import sys

SERVER = "worker.engine.forkserver.server"
LAUNCH = "python -P -m worker.engine.forkserver.fork_launch"
"""What Ray starts in place of a worker's interpreter. As for a driver, the `PATH` of the node says which Python."""
SWITCH_VARIABLE = "TANDEM_FORK_LANES"
"""`off` where lanes shall import by themselves."""
JOB_VARIABLE = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Set in the processes that Ray's Jobs API starts, whose code every node has unpacked for their lanes to import."""


def can_fork() -> bool:
    """Whether this driver's CPU lanes may be forked."""
    return JOB_VARIABLE in os.environ and os.environ.get(SWITCH_VARIABLE, "on") != "off"


def start_server() -> None:
    """Start a server on this node in a session of its own, without waiting for it; it outlives this process. One that
    runs already stays: the second one ends at once."""
    subprocess.Popen(
        [sys.executable, "-P", "-m", SERVER],
        stdin=subprocess.DEVNULL,
        # What libraries say while they are imported. Where an import fails the server ends, and each lane that then
        # imports by itself has the error in its own log.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
