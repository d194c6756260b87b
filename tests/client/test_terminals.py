"""`tandem` in shells of all kinds: what it prints there, and how it ends. Processes of their own where that matters."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from accounts.models import User
from runs.models import Run
from tandem.cli.invocation import ExitCode, Invocation
from tandem.cli.main import app
from tests.client.conftest import ADDRESS, OverWsgi
from tests.client.recipes.reader import CLIENT

pytestmark = pytest.mark.django_db
ESCAPE = "\x1b]0;owned\x07"
"""Renames the window of a terminal that acts on it."""


def begin(folder: Path, *arguments: str, **variables: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(CLIENT), "XDG_CONFIG_HOME": str(folder), **variables}
    return subprocess.Popen(
        [sys.executable, "-m", "tandem", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def keep_contexts(folder: Path, *names: str) -> None:
    (folder / "tandem").mkdir()
    contexts = {name: {"url": "https://tandem.example.org", "token": "t"} for name in names}
    (folder / "tandem" / "contexts.json").write_text(json.dumps({"current": names[0], "contexts": contexts}))


def test_it_ends_quietly_where_nobody_reads_its_output(tmp_path: Path) -> None:
    keep_contexts(tmp_path, *(f"server-{number}" for number in range(3000)))
    for arguments in (["contexts"], ["contexts", "--json"]):
        program = begin(tmp_path, *arguments)
        assert program.stdout is not None
        program.stdout.close()
        assert program.wait(20) == ExitCode.PIPE_CLOSED
        assert program.stderr is not None
        assert program.stderr.read() == b""


def test_a_terminal_without_the_letters_gets_others(tmp_path: Path) -> None:
    keep_contexts(tmp_path, "▁bung")
    program = begin(tmp_path, "contexts", PYTHONIOENCODING="latin-1")
    printed, problems = program.communicate(timeout=20)
    assert (program.returncode, problems) == (0, b"")
    assert b"?bung" in printed


def test_an_interrupted_call_says_nothing_more(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        program = begin(tmp_path, "runs", "watch", "any", TANDEM_URL=address, TANDEM_TOKEN="t")
        silent.settimeout(20)
        connection, _ = silent.accept()
        connection.recv(1)
        time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=20) == (b"", b"")
        connection.close()
    assert program.returncode == ExitCode.INTERRUPTED


def test_errors_have_colours_only_where_they_are_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TANDEM_URL", "ftp://tandem")
    monkeypatch.setenv("TANDEM_TOKEN", "t")
    coloured = CliRunner().invoke(app, ["runs", "list"], color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = CliRunner().invoke(app, ["runs", "list"], color=True)
    assert plain.stderr.startswith("tandem: the server's address must begin")
    assert coloured.stderr == f"\x1b[31m{plain.stderr.rstrip()}\x1b[0m\n"


def test_what_others_wrote_does_not_command_the_terminal(
    alice: User,
    token_of: Callable[..., str],
    run: Run,
    report: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report({"type": "log", "level": "info", "source": "driver", "message": f"loss {ESCAPE} fell"})
    Run.objects.filter(pk=run.pk).update(name=f"n{ESCAPE}", notes=f"first line\n{ESCAPE}")
    for name, value in (("TANDEM_URL", ADDRESS), ("TANDEM_TOKEN", token_of(alice)), ("XDG_CONFIG_HOME", str(tmp_path))):
        monkeypatch.setenv(name, value)
    for arguments in (["runs", "list"], ["runs", "show", str(run.pk)], ["runs", "logs", str(run.pk)]):
        printed = CliRunner().invoke(app, arguments, obj=Invocation(transport=OverWsgi()), color=True).output
        assert "\\x1b]0;owned\\x07" in printed
        assert "\x1b]" not in printed
        assert "\x07" not in printed


def test_an_answer_of_another_kind_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    odd = Invocation(transport=OverWsgi(httpx.Response(200, json={"username": {}})))
    ended = CliRunner().invoke(app, ["login", ADDRESS, "--token", "t"], obj=odd)
    assert ended.exit_code == ExitCode.UNREACHABLE
    assert "of another release: update tandem-client" in ended.stderr


def test_a_token_is_taken_from_standard_input_and_its_way_is_told(
    alice: User, token_of: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    token = token_of(alice)
    arguments = ["login", ADDRESS, "--token", "-"]
    ended = CliRunner().invoke(app, arguments, obj=Invocation(transport=OverWsgi()), input=f"{token}\n")
    assert ended.exit_code == 0, ended.output
    assert "testserver is not encrypted" in ended.stderr
    kept = json.loads((tmp_path / "tandem" / "contexts.json").read_text())
    assert kept["contexts"]["testserver"]["token"] == token
