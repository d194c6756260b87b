"""`tandem operations`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, client_of
from tandem.cli.output import EMPTY, print_facts, print_json, print_table

if TYPE_CHECKING:
    from tandem.synchronous.operation_calls import Operation

app = typer.Typer(no_args_is_help=True, help="Long work: previews, commands, resizes, GPU tests, and more.")
OperationId = Annotated[str, typer.Argument(metavar="OPERATION", help="An operation's id, as `list` shows it.")]


@app.command("list")
def list_operations(
    ctx: typer.Context,
    kind: Annotated[
        str, typer.Option(help="preview, command, resize, sweep, gpu_test, drain, retention; several by commas.")
    ] = "",
    state: Annotated[str, typer.Option(help="waiting, running, succeeded, failed, cancelled; several by commas.")] = "",
    run: Annotated[str, typer.Option(help="The run that they concern: its id, or its name.")] = "",
    mine: Annotated[bool, typer.Option("--mine", help="Only those that you asked for.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List operations, newest first."""
    from itertools import islice

    client = client_of(ctx)
    run_id = client.runs.get(run).id if run else ""
    found = list(islice(client.operations.list(kind=kind, state=state, run=str(run_id), mine=mine), limit))
    if as_json:
        print_json(found)
        return
    rows = [
        (each.action, each.state, _progress(each), each.target.name, each.requested_by, each.created_at, each.id)
        for each in found
    ]
    print_table(("what", "state", "done", "of", "asked by", "since", "id"), rows, absent="No operations.")


@app.command("show")
def show(ctx: typer.Context, operation: OperationId, as_json: AsJson = False) -> None:
    """Show how far an operation is."""
    _show(client_of(ctx).operations.get(operation), as_json)


@app.command("wait")
def wait(
    ctx: typer.Context,
    operation: OperationId,
    timeout: Annotated[float | None, typer.Option(min=0, help="Give up after so many seconds; exit code 1.")] = None,
    as_json: AsJson = False,
) -> None:
    """Wait until an operation has ended; exit code 10 if it failed or was cancelled."""
    _show(client_of(ctx).operations.get(operation).wait(timeout=timeout), as_json)


@app.command("cancel")
def cancel(ctx: typer.Context, operation: OperationId, as_json: AsJson = False) -> None:
    """Take an operation back. What cannot be taken back says what is possible; exit code 5."""
    _show(client_of(ctx).operations.get(operation).cancel(), as_json)


def _show(operation: "Operation", as_json: bool) -> None:
    if as_json:
        print_json(operation)
        return
    facts = [
        ("what", f"{operation.action} of {operation.target.name}"),
        ("state", operation.state),
        ("done", _progress(operation)),
        ("problem", operation.problem),
        ("detail", operation.detail),
        ("asked by", operation.requested_by),
        ("request", operation.request_id),
        ("since", operation.created_at),
        ("began", operation.started_at),
        ("ended", operation.ended_at),
        ("result", operation.result),
    ]
    print_facts((name, value) for name, value in facts if value != EMPTY)


def _progress(operation: "Operation") -> str:
    progress = operation.progress
    return EMPTY if progress is None else f"{progress.done}/{progress.total} {progress.unit}"
