"""Somebody who pastes what a recipe says into a shell with the real command line. Needs no Django."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.client.recipes.pages import Block, Page

CLIENT = Path(__file__).resolve().parents[3] / "deploy" / "client"


@dataclass
class Reader:
    """Somebody with a token, an empty folder and a shell."""

    folder: Path
    environment: dict[str, str]
    timeout_seconds: float
    """Within which everything that is pasted must end."""
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

    def begin_step(self, command: str) -> "subprocess.Popen[str]":
        """Run a step of a workflow, as GitHub documents for `run` without `shell`."""
        return self.begin_program("bash", "-e", "-c", command)

    def paste(self, block: Block, *, code: int = 0) -> str:
        """What the block prints; it ends with `code`."""
        return self.end(self.begin(block), code=code)

    def end(self, program: "subprocess.Popen[str]", *, code: int = 0) -> str:
        printed, _ = program.communicate(timeout=self.timeout_seconds)
        assert program.returncode == code, printed
        return printed

    def leave(self) -> None:
        for program in self.programs:
            if program.poll() is None:
                program.kill()
                program.communicate()


SignIn: TypeAlias = Callable[[str], Reader]
"""A reader with a token, in an empty folder."""


@contextmanager
def readers_at(url: str, folder: Path, *, timeout_seconds: float) -> Iterator[SignIn]:
    """Readers of the server at `url`. The shell's `sleep` takes a fifth of a second: pages wait for minutes."""
    readers: list[Reader] = []
    commands = folder / "bin"
    commands.mkdir()
    for name, runs in (("tandem", f'{shlex.quote(sys.executable)} -m tandem "$@"'), ("sleep", "/bin/sleep 0.2")):
        (commands / name).write_text(f"#!/bin/sh\nexec {runs}\n")
        (commands / name).chmod(0o755)

    def sign_in(token: str) -> Reader:
        own = folder / f"reader-{len(readers)}"
        own.mkdir()
        environment = {
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(CLIENT),
            "HOME": str(own),
            "COLUMNS": "200",
            "TANDEM_URL": url,
            "TANDEM_TOKEN": token,
        }
        readers.append(Reader(own, environment, timeout_seconds))
        return readers[-1]

    try:
        yield sign_in
    finally:
        for each in readers:
            each.leave()
