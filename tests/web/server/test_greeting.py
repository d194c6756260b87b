"""What `up` prints once it serves."""

from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from server import environment
from server.stack.screen import greet
from server.stack.starting import Started


@pytest.mark.parametrize("in_a_terminal", [True, False])
def test_a_new_password_is_shown_in_a_terminal_and_kept_out_of_journals(
    in_a_terminal: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(environment, "VAR", tmp_path)
    (tmp_path / "admin-password").write_text("canary")
    started = SimpleNamespace(admin=SimpleNamespace(username="admin"), new_password="canary")
    output = StringIO()
    greet(Console(file=output, force_terminal=in_a_terminal, width=200), cast(Started, started))
    assert ("canary" in output.getvalue()) == in_a_terminal
    assert "admin-password" in output.getvalue()
