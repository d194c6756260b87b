"""`tandem retention`."""

from typing import Annotated

import typer

from tandem.cli.invocation import AsJson, client_of
from tandem.cli.output import print_json, print_table

app = typer.Typer(no_args_is_help=True, help="What is kept for how long, and what is past its days.")


@app.command("show")
def show(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show for how long each kind of data is kept."""
    found = client_of(ctx).retention.policy()
    if as_json:
        print_json(found)
        return
    rows = [(each.kind, _kept_for(each.days), each.setting) for each in found.kinds]
    print_table(("kind", "kept for", "setting"), rows, absent="Nothing is known.")
    typer.echo(f"The worker deletes by itself: {'every hour' if found.is_automatic else 'no'}.")


@app.command("preview")
def preview(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show what would be deleted now; nothing is."""
    found = client_of(ctx).retention.preview()
    if as_json:
        print_json(found)
        return
    rows = [
        (each.kind, _kept_for(each.days), each.num_runs, each.num_rows, each.num_files, _mebibytes(each.num_bytes))
        for each in found.kinds
    ]
    print_table(("kind", "kept for", "runs", "rows", "files", "MiB"), rows, absent="Nothing is known.")
    typer.echo()
    shares = [
        (each.run_name, each.project_name, each.ended_at, each.kind, each.num_rows, each.num_files)
        for each in found.shares
    ]
    titles = ("run", "project", "ended", "kind", "rows", "files")
    print_table(titles, shares, absent="Nothing is past its days.")
    if found.num_more_shares:
        typer.echo(f"{found.num_more_shares} more are left for the next preview.")
    if shares:
        typer.echo(f"\nDelete this, and nothing else: tandem retention delete {found.id}")


@app.command("delete")
def delete(
    ctx: typer.Context,
    preview_id: Annotated[str, typer.Argument(metavar="PREVIEW", help="The id that `preview` showed.")],
    wait: Annotated[bool, typer.Option("--wait", help="Until it is done; exit code 10 if it failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete what a preview showed. Where there is more by now, it says what; exit code 5."""
    operation = client_of(ctx).retention.delete(preview_id)
    if wait:
        operation = operation.wait()
    if as_json:
        print_json(operation)
    else:
        typer.echo(f"{operation.id} is {operation.state}.")


def _kept_for(days: int) -> str:
    return f"{days} days" if days else "good"


def _mebibytes(num_bytes: int) -> str:
    return f"{num_bytes / 2**20:,.1f}"
