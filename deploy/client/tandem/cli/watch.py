"""A run followed in the terminal: progress, reward and lanes, until it ends."""

import time
from collections import Counter
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tandem.cli.output import sparkline
from tandem.polling import poll_waits
from tandem.text_files import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tandem.synchronous.run_handle import Run

REWARD = "reward/mean"
BAR_WIDTH = 40
COLOURS = {"running": "green", "completed": "green", "failed": "red", "cancelled": "yellow", "stopped": "yellow"}


def watch(run: "Run", *, quietly: bool = False) -> "Run":
    """The run once it has ended. On a terminal one view is drawn over itself; elsewhere each change is a line.

    Raises:
        RunFailed: it failed.
    """
    if quietly:
        return run.wait()
    console = Console(highlight=False)
    with run._session.patiently():
        ended = _live(run, console) if console.is_terminal else _by_line(run)
    ended.raise_for_failure()
    return ended


def _live(run: "Run", console: Console) -> "Run":
    waits = poll_waits()
    with Live(_view(run), console=console, auto_refresh=False) as live:
        while True:
            live.update(_view(run), refresh=True)
            if run.has_ended:
                return run
            time.sleep(next(waits))
            run = run.reload()


def _by_line(run: "Run") -> "Run":
    said, waits = "", poll_waits()
    while True:
        line = printable(f"{run.state} {run.num_batches_done}/{run.num_batches} {run.waiting}".rstrip())
        if line != said:
            typer.echo(line)
        if run.has_ended:
            return run
        said = line
        time.sleep(next(waits))
        run = run.reload()


def _view(run: "Run") -> "RenderableType":
    state = Text.assemble(
        (printable(run.name), "bold"), "  ", (run.state, COLOURS.get(run.state, "cyan")), "  ", run.phase
    )
    progress = Table.grid(padding=(0, 2))
    progress.add_row(
        ProgressBar(total=max(run.num_batches, 1), completed=run.num_batches_done, width=BAR_WIDTH),
        f"{run.num_batches_done} of {run.num_batches} batches",
    )
    lines: list[RenderableType] = [state, progress]
    if run.waiting:
        lines.append(Text(printable(run.waiting), style="yellow"))
    if rewards := _rewards(run):
        lines.append(Text.assemble(sparkline(rewards, BAR_WIDTH), f"  reward {rewards[-1]:.4g}"))
    if lanes := _lanes(run):
        lines.append(Text(lanes))
    return Group(*lines)


def _rewards(run: "Run") -> list[float]:
    series = run.curves([REWARD]).series.get(REWARD)
    return series.value if series else []


def _lanes(run: "Run") -> str:
    """Such as `lanes: 3 rollout, 1 trainer`."""
    roles = Counter(lane.role for lane in run.size().lanes)
    return f"lanes: {', '.join(f'{number} {role}' for role, number in roles.items())}" if roles else ""
