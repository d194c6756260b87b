"""`tandem`: the root of all commands."""

from typing import Annotated

import typer

from tandem.cli import (
    account_commands,
    operation_commands,
    pool_commands,
    retention_commands,
    reward_commands,
    run_commands,
    run_downloads,
    sweep_commands,
)
from tandem.cli.invocation import Commands, Invocation

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    # A traceback's locals would show the token.
    pretty_exceptions_show_locals=False,
    help="Train image and video diffusion models on a Tandem server.",
    epilog="Exit codes: 0 done, 1 refused, 2 wrong command line, 3 not signed in or not allowed, 4 not found, "
    "5 conflict, 6 unreachable or server error, 10 what was waited for failed, 130 interrupted, 141 nobody reads "
    "the output.",
)
app.add_typer(run_commands.app, name="runs")
app.add_typer(sweep_commands.app, name="sweep")
app.add_typer(pool_commands.app, name="pool")
app.add_typer(retention_commands.app, name="retention")
app.add_typer(operation_commands.app, name="operations")
app.add_typer(account_commands.tokens, name="tokens")
app.add_typer(account_commands.prompts, name="prompts")
app.command("login")(account_commands.login)
app.command("contexts")(account_commands.contexts)
app.command("samples")(run_downloads.samples)
app.command("plan")(pool_commands.plan)
app.command("rewards")(reward_commands.rewards)
app.command("queue")(pool_commands.queue)
app.command("usage")(pool_commands.usage)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        from tandem.protocol import package_version

        typer.echo(f"tandem {package_version()}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    context: Annotated[str, typer.Option(help="A server that `tandem login` named. Default: the current one.")] = "",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Before every command."""
    invocation = ctx.ensure_object(Invocation)
    invocation.context = context
    ctx.call_on_close(invocation.close)
