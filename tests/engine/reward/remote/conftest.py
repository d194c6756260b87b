"""The repository's example server in a process of its own, with a scorer whose answers are given by the prompt."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.contracts.scorer_access import ScorerAccess

REPOSITORY = Path(__file__).parents[4]
TOKEN = "the-servers-token"
LOCAL_ACCESS = ScorerAccess(hosts=("127.0.0.1",))
"""Of an installation whose administrator allows scorers on this machine."""
PROMPT_DRIVEN_SCORER = Path(__file__).with_name("prompt_driven_scorer.py")


def local_access(token: str = TOKEN) -> ScorerAccess:
    """The same with the token of the project's secret `scorer`."""
    return ScorerAccess(tokens={"scorer": token}, hosts=LOCAL_ACCESS.hosts)


def start_server(*arguments: str, token: str = TOKEN) -> tuple[subprocess.Popen[str], str]:
    """Start the server; returns its process and its address."""
    process = subprocess.Popen(
        [sys.executable, REPOSITORY / "deploy/reward_server/server.py", "--port", "0", *arguments],
        env={**os.environ, "REWARD_SERVER_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split(" at ")[1].strip()


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    process, url = start_server("--scorer", str(PROMPT_DRIVEN_SCORER), "--max-requests", "2", "--max-wait", "0")
    yield url
    process.terminate()
    process.wait(10)
