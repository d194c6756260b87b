"""The terminal of `up`: a greeting, then one status line that follows the processes.

On a terminal the line is redrawn in place; into a file or a pipe it is written when it changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from server import environment
from server.stack.starting import Started
from server.supervisor.client import ProcessState


def greet(console: Console, started: Started) -> None:
    """Print the address and how to sign in. A password is shown only by the start that created it, and in a terminal,
    which forgets: a journal or a container's log would keep it."""
    console.print(f"\n[bold]Tandem[/bold] serves at [bold cyan]{environment.PUBLIC_URL}[/bold cyan]")
    path = environment.VAR / "admin-password"
    if started.new_password is not None and console.is_terminal:
        console.print(f"Sign in as [bold]{started.admin.username}[/bold], password [bold]{started.new_password}[/bold]")
        console.print(f"(shown once, kept in {path})", style="dim", soft_wrap=True)
    elif path.exists():
        console.print(f"Sign in as [bold]{started.admin.username}[/bold]; first password: {path}", soft_wrap=True)
    console.print(f"Logs: {environment.VAR / 'logs'}. Ctrl-C stops everything.\n", style="dim", soft_wrap=True)


def status_line(states: dict[str, ProcessState]) -> Text:
    """`postgres ● valkey ● ray ● web ● worker ● (2 restarts)`."""
    line = Text()
    for state in states.values():
        line.append(f"{state.name} ")
        line.append("●" if state.is_up else "○", style="green" if state.is_up else "red")
        if not state.is_up:
            line.append(f" down, code {state.last_code}", style="red")
        if state.num_restarts:
            plural = "s" if state.num_restarts > 1 else ""
            line.append(f" ({state.num_restarts} restart{plural})", style="yellow")
        line.append("  ")
    return line


class Screen:
    """The part of the terminal below the greeting."""

    def __init__(self, console: Console, live: Live | None) -> None:
        self.console = console
        self._live = live
        self._last = ""

    @property
    def is_live(self) -> bool:
        return self._live is not None

    def show(self, states: dict[str, ProcessState], *below: RenderableType) -> None:
        """Show the status line, and on a terminal the caller's lines below it."""
        line = status_line(states)
        if self._live is not None:
            self._live.update(Group(line, *below))
        elif line.plain != self._last:
            self.console.print(line)
        self._last = line.plain


@contextmanager
def screen(console: Console) -> Iterator[Screen]:
    if not console.is_terminal:
        yield Screen(console, None)
        return
    with Live(console=console, refresh_per_second=4, transient=False) as live:
        yield Screen(console, live)
