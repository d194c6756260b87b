"""Readers who paste what a recipe says into a shell, with the real command line, on the real application."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from accounts.models import User
from tests.client.recipes.pages import Block, Page
from tests.client.recipes.served_application import Served, serving
from tests.web.hooks.conftest import make_webhook, receiver  # noqa: F401
from tests.web.runs.conftest import cluster, live_run, reconciler, web  # noqa: F401

CLIENT = Path(__file__).resolve().parents[3] / "deploy" / "client"
TIMEOUT_SECONDS = 20


@dataclass
class Reader:
    """Somebody with a token, an empty folder and a shell."""

    folder: Path
    environment: dict[str, str]
    programs: list[subprocess.Popen[str]] = field(default_factory=list)

    def fill_in(self, page: Page, values: Mapping[str, str] | None = None) -> None:
        """Keep the page's files, and give its settings values: to each that it names, and to no other."""
        given = values or {}
        assert page.settings == set(given)
        self.environment |= given
        for name, text in page.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def begin(self, block: Block) -> "subprocess.Popen[str]":
        """Paste a block, and leave it running."""
        shell = ["bash", "-eu", "-o", "pipefail", "-c"]
        return self.begin_program(*([sys.executable, "-c"] if block.language == "python" else shell), block.text)

    def begin_program(self, *argv: str, **variables: str) -> "subprocess.Popen[str]":
        program = subprocess.Popen(
            argv,
            cwd=self.folder,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.programs.append(program)
        return program

    def paste(self, block: Block, *, code: int = 0) -> str:
        """What the block prints; it ends with `code`."""
        return self.end(self.begin(block), code=code)

    def end(self, program: "subprocess.Popen[str]", *, code: int = 0) -> str:
        printed, _ = program.communicate(timeout=TIMEOUT_SECONDS)
        assert program.returncode == code, printed
        return printed

    def leave(self) -> None:
        for program in self.programs:
            if program.poll() is None:
                program.kill()
                program.communicate()


@pytest.fixture
def served(db: None) -> Iterator[Served]:
    with serving() as application:
        yield application


@pytest.fixture
def reader_as(served: Served, token_of: Callable[..., str], tmp_path: Path) -> Iterator[Callable[..., Reader]]:
    """`reader_as(user, scopes=…)`: a reader who is signed in with a token of that user.

    The shell's `sleep` takes a fifth of a second: pages wait for minutes.
    """
    readers: list[Reader] = []
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, runs in (("tandem", f'{shlex.quote(sys.executable)} -m tandem "$@"'), ("sleep", "/bin/sleep 0.2")):
        (commands / name).write_text(f"#!/bin/sh\nexec {runs}\n")
        (commands / name).chmod(0o755)

    def sign_in(user: User, **limits: object) -> Reader:
        folder = tmp_path / f"reader-{len(readers)}"
        folder.mkdir()
        environment = {
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(CLIENT),
            "HOME": str(folder),
            "COLUMNS": "200",
            "TANDEM_URL": served.url,
            "TANDEM_TOKEN": token_of(user, **limits),
        }
        readers.append(Reader(folder, environment))
        return readers[-1]

    yield sign_in
    for each in readers:
        each.leave()
