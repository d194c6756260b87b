"""`tandem runs import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, client_of
from tandem.cli.output import print_json

if TYPE_CHECKING:
    from tandem.rest_models import ImportedSpec


def import_configuration(
    ctx: typer.Context,
    file: Annotated[
        typer.FileText, typer.Argument(metavar="FILE", encoding="utf-8", help="The configuration; - reads stdin.")
    ],
    kind: Annotated[str, typer.Option(help="flow_grpo or diffusers. Default: what the text looks like.")] = "",
    function: Annotated[str, typer.Option(help="The recipe in a file of flow_grpo that has several.")] = "",
    gpus: Annotated[int | None, typer.Option(min=1, help="How many GPUs a recipe of flow_grpo was run on.")] = None,
    target: Annotated[Path | None, typer.Option("--output", "-o", help="Default: print the spec.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a recipe of flow_grpo, or the command of a training script of diffusers, into a spec as YAML.

    What could not be carried is told on stderr. Prompts are to be added; for diffusers, rewards too.
    """
    client = client_of(ctx)
    try:
        source = file.read()
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{file.name} is no text: {error}", param_hint="FILE") from error
    found = client.import_configuration(source, kind=kind, function=function, num_gpus=gpus)
    if not found.yaml and len(found.functions) == 1:
        found = client.import_configuration(source, kind=kind, function=found.functions[0], num_gpus=gpus)
    if not found.yaml:
        names = ", ".join(found.functions)
        raise typer.BadParameter(
            f"choose one of {names}" if names else f"{file.name} has none: they are functions without arguments",
            param_hint="--function",
        )
    _tell_left_out(found)
    if target is not None:
        target.write_text(found.yaml, encoding="utf-8")
    if as_json:
        print_json(found)
    elif target is None:
        typer.echo(found.yaml, nl=False)


def _tell_left_out(found: "ImportedSpec") -> None:
    for one in found.left_out:
        typer.echo(f"left out {one.source} = {one.value!r}: {one.why}", err=True)
