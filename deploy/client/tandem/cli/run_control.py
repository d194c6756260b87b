"""`tandem runs pause`, `resume`, `stop`, `cancel`, `resize`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, RunName, client_of
from tandem.cli.output import print_json

if TYPE_CHECKING:
    from tandem.synchronous.operation_calls import Operation
    from tandem.synchronous.run_handle import Run

Awaited = Annotated[bool, typer.Option("--wait", help="Until it is done; exit code 10 if it fails.")]


def pause(ctx: typer.Context, run: RunName, wait: Awaited = False, as_json: AsJson = False) -> None:
    """Free a run's lanes after the batch under way, and keep it to be resumed."""
    found = client_of(ctx).runs.get(run)
    _tell(found, found.pause(), "pauses after the batch under way", wait, as_json)


def resume(ctx: typer.Context, run: RunName, wait: Awaited = False, as_json: AsJson = False) -> None:
    """Go on with a paused run."""
    found = client_of(ctx).runs.get(run)
    _tell(found, found.resume(), "resumes", wait, as_json)


def stop(ctx: typer.Context, run: RunName, wait: Awaited = False, as_json: AsJson = False) -> None:
    """End a run after the batch under way, with a checkpoint and an adapter."""
    found = client_of(ctx).runs.get(run)
    _tell(found, found.stop(), "stops after the batch under way", wait, as_json)


def cancel(ctx: typer.Context, run: RunName, wait: Awaited = False, as_json: AsJson = False) -> None:
    """End a run at once."""
    found = client_of(ctx).runs.get(run)
    _tell(found, found.cancel(), "is cancelled", wait, as_json)


def resize(
    ctx: typer.Context,
    run: RunName,
    add: Annotated[list[str], typer.Option(metavar="ROLE[:NUMBER]", help="Lanes to join. May be repeated.")] = [],  # noqa: B006
    release: Annotated[list[str], typer.Option(metavar="LANE", help="A lane to leave. May be repeated.")] = [],  # noqa: B006
    change: Annotated[list[str], typer.Option(metavar="LANE:ROLE", help="A lane's new role. May be repeated.")] = [],  # noqa: B006
    wait: Awaited = False,
    as_json: AsJson = False,
) -> None:
    """Let lanes join or leave a run, or change their roles, while it trains."""
    found = client_of(ctx).runs.get(run)
    begun = found.resize(add=_numbers(add), release=release, change=dict(_pair(each) for each in change))
    _tell(found, begun, "is resized", wait, as_json)


def _tell(run: "Run", begun: "Operation", what: str, is_awaited: bool, as_json: bool) -> None:
    if is_awaited:
        begun.wait()
    if as_json:
        print_json(run.reload())
    elif is_awaited:
        typer.echo(f"{run.name} is {run.reload().state}.")
    else:
        typer.echo(f"{run.name} {what}: {begun.id}")


def _numbers(added: list[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for each in added:
        role, _, number = each.partition(":")
        if number and not number.isdecimal():
            raise typer.BadParameter(f"--add must be ROLE or ROLE:NUMBER, got {each!r}")
        numbers[role] = numbers.get(role, 0) + int(number or 1)
    return numbers


def _pair(change: str) -> tuple[str, str]:
    lane, between, role = change.rpartition(":")
    if not between:
        raise typer.BadParameter(f"--change must be LANE:ROLE, got {change!r}")
    return lane, role
