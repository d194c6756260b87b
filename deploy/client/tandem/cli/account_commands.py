"""`tandem login`, `contexts`, `tokens` and `prompts`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tandem.cli.invocation import AsJson, Invocation, ProjectName, client_of
from tandem.cli.output import print_json, print_table

tokens = typer.Typer(no_args_is_help=True, help="Your API tokens.")
prompts = typer.Typer(no_args_is_help=True, help="Sets of prompts.")


def login(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="The server's address, such as https://tandem.example.org.")],
    token: Annotated[
        str,
        typer.Option(
            prompt="API token (account page)",
            hide_input=True,
            envvar="TANDEM_TOKEN",
            help="An API token; `-` reads it from standard input, so that no list of processes shows it.",
        ),
    ],
    name: Annotated[str, typer.Option(help="What to call this server. Default: its host.")] = "",
) -> None:
    """Sign in to a server, and use it from now on."""
    from urllib.parse import urlsplit

    from tandem.contexts import Context, load_contexts, save_contexts
    from tandem.protocol import is_exposed, sent_token, server_address
    from tandem.synchronous.client import Client

    address, token = server_address(url), sent_token(sys.stdin.read() if token == "-" else token)
    if is_exposed(address):
        typer.echo(f"tandem: {address} is not encrypted, and everybody on the way can read the token", err=True)
    with Client(address, token, transport=ctx.ensure_object(Invocation).transport) as client:
        user = client.me().username
    known, chosen = load_contexts(), name or urlsplit(address).netloc
    save_contexts(replace(known, by_name={**known.by_name, chosen: Context(address, token)}, current=chosen))
    typer.echo(f"Signed in to {address} as {user}; the context is called {chosen}.")


def contexts(use: Annotated[str, typer.Option(help="Use this one from now on.")] = "", as_json: AsJson = False) -> None:
    """List the servers that you are signed in to."""
    from tandem.contexts import chosen_context, load_contexts, save_contexts

    known = load_contexts()
    if use:
        chosen_context(use)
        known = replace(known, current=use)
        save_contexts(known)
    rows = [(name, each.url, name == known.current) for name, each in sorted(known.by_name.items())]
    if as_json:
        print_json([{"name": name, "url": url, "is_current": is_current} for name, url, is_current in rows])
        return
    print_table(
        ("", "name", "address"),
        [("*" if is_current else " ", name, url) for name, url, is_current in rows],
        absent="No server yet: `tandem login URL`.",
    )


@tokens.command("list")
def list_tokens(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List them, without their secrets."""
    found = client_of(ctx).tokens.list()
    if as_json:
        print_json(found)
        return
    rows = [(each.id, each.name, ", ".join(each.scopes), each.last_used_at, each.expires_at) for each in found]
    print_table(("id", "name", "scopes", "last used", "expires"), rows, absent="No tokens.")


@tokens.command("create")
def create_token(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[str], typer.Option(help="read, run, pool or admin; may be repeated.")] = ["read"],  # noqa: B006
    days: Annotated[int, typer.Option(help="Days until it ends by itself.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Make a token and print its secret, which is told this once."""
    made = client_of(ctx).tokens.create(name, scopes=scope, expires_in_days=days)
    if as_json:
        print_json(made)
    else:
        typer.echo(made.token)


@tokens.command("revoke")
def revoke_token(ctx: typer.Context, token_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """End a token now."""
    client_of(ctx).tokens.revoke(token_id)
    typer.echo(f"Revoked {token_id}.")


@prompts.command("push")
def push_prompts(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Text, one prompt a line, or .jsonl.")],
    name: Annotated[str, typer.Option(help="The set's name. Default: the file's.")] = "",
    project: ProjectName = "",
    as_json: AsJson = False,
) -> None:
    """Store a file of prompts as a set."""
    from tandem.prompt_file import read_prompts

    made = client_of(ctx).prompts.push(name or file.stem, read_prompts(file), project=project)
    if as_json:
        print_json(made)
    else:
        typer.echo(f"Stored {made.num_prompts} prompts as {made.name}: {made.id}")
