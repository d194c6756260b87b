"""The repository's own example server in a process of its own, with a scorer that obeys the prompt."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]
TOKEN = "the-servers-token"
PROMPT_DRIVEN_SCORER = Path(__file__).with_name("moody_scorer.py")


def start_server(*arguments: str, token: str = TOKEN) -> tuple[subprocess.Popen[str], str]:
    """The process and the address it serves at."""
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
