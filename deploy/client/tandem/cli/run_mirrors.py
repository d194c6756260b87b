"""`tandem runs mirrors` and `tandem runs mirror`."""

from typing import Annotated

import typer

from tandem.cli.invocation import AsJson, RunName, client_of
from tandem.cli.output import print_json, print_table


def mirrors(ctx: typer.Context, run: RunName, as_json: AsJson = False) -> None:
    """Show how far each mirror has got with a run."""
    found = client_of(ctx).runs.get(run).mirrors()
    if as_json:
        print_json(found)
        return
    rows = [
        (each.name, each.kind, each.state, each.batch, each.num_batches_behind, each.url or each.folder, each.error)
        for each in found
    ]
    print_table(("mirror", "kind", "state", "batch", "behind", "where", "error"), rows, absent="No mirrors.")


def mirror(
    ctx: typer.Context,
    run: RunName,
    mirror: Annotated[str, typer.Argument(help="A mirror of the run's project, by name.")],
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Write again what is there, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run to a mirror at once: also one that has ended, or that was given up."""
    found = client_of(ctx).runs.get(run)
    row = found.mirror(mirror, from_beginning=from_beginning)
    if as_json:
        print_json(row)
    else:
        typer.echo(f"{found.name} is written to {row.name}.")
