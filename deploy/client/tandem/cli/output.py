"""Tables for people, JSON for programs."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import typer

from tandem.text_files import printable

EMPTY = "–"
BARS = "▁▂▃▄▅▆▇█"


def print_json(content: Any) -> None:
    """Print models, or lists of them, as REST spells them."""
    typer.echo(json.dumps(_plain(content), indent=2, ensure_ascii=False))


def _plain(content: Any) -> Any:
    if hasattr(content, "model_dump"):
        return content.model_dump(mode="json")
    if isinstance(content, (list, tuple)):
        return [_plain(item) for item in content]
    return content


def print_table(titles: Sequence[str], rows: Iterable[Sequence[Any]], *, absent: str) -> None:
    """A table without lines; `absent` is said in place of an empty one. Piped, no row is cut or wrapped."""
    from rich.console import Console
    from rich.table import Table

    filled = [[spelled(cell) for cell in row] for row in rows]
    if not filled:
        typer.echo(absent)
        return
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = sum(max(map(len, column)) + 2 for column in zip(titles, *filled, strict=True))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in filled:
        table.add_row(*row)
    with console.capture() as table_text:
        console.print(table)
    # Not by the console itself: where nobody reads, it would end the process with a code of its own.
    typer.echo(table_text.get(), nl=False)


def print_facts(facts: Iterable[tuple[str, Any]]) -> None:
    """One name and value a line, without those that are empty."""
    shown = [(name, spelled(value)) for name, value in facts if value not in (None, "", [])]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        typer.echo(f"{name:<{width}}  {value}")


def spelled(value: Any) -> str:
    if value is None or value == "":
        return EMPTY
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value.astimezone():%Y-%m-%d %H:%M}" if isinstance(value, datetime) else printable(str(value))


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """The newest `width` values as bars between their least and greatest."""
    newest = list(values)[-width:]
    if not newest:
        return ""
    low, high = min(newest), max(newest)
    span = (high - low) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in newest)
