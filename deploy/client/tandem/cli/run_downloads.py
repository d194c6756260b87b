"""What the command line fetches from a run: `samples`, `runs download` and `runs report`."""

from pathlib import Path
from typing import Annotated

import typer

from tandem.cli.invocation import AsJson, RunName, client_of
from tandem.cli.output import print_json
from tandem.text_files import file_name


def samples(
    ctx: typer.Context,
    run: RunName,
    batch: Annotated[int | None, typer.Option(help="Default: the newest that has pictures.")] = None,
    purpose: Annotated[str, typer.Option(help="Only those of train, evaluate or request.")] = "",
    folder: Annotated[Path | None, typer.Option("--output", "-o", help="Default: the run's name.")] = None,
    as_json: AsJson = False,
) -> None:
    """Download the pictures or clips of a batch."""
    found = client_of(ctx).runs.get(run)
    into = folder or Path(file_name(found.name))
    saved = found.save_samples(into, batch=batch, purpose=purpose)
    if as_json:
        print_json([str(path) for path in saved])
    else:
        typer.echo(f"{len(saved)} files in {into}." if saved else f"{found.name} has no such samples.")


def download(
    ctx: typer.Context,
    run: RunName,
    version: Annotated[int | None, typer.Option("--policy-version", help="Default: the newest.")] = None,
    folder: Annotated[Path | None, typer.Option("--output", "-o", help="Default: the run's name and version.")] = None,
    comfyui: Annotated[bool, typer.Option("--comfyui", help="Write it as ComfyUI reads it, into this folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Download a trained version in diffusers format; checksums are verified."""
    found = client_of(ctx).runs.get(run)
    if comfyui:
        files = found.download_for_comfyui(folder or Path(), version)
        if as_json:
            print_json({"files": [str(path) for path in files]})
        else:
            typer.echo("\n".join(str(path) for path in files))
        return
    path = found.download(version, folder)
    if as_json:
        print_json({"folder": str(path)})
    else:
        typer.echo(str(path))


def report(
    ctx: typer.Context,
    run: RunName,
    file: Annotated[Path | None, typer.Option("--output", "-o", help="Default: the run's name, .html.")] = None,
    as_json: AsJson = False,
) -> None:
    """Download the run's report, one HTML file."""
    found = client_of(ctx).runs.get(run)
    path = found.report(file or Path(f"{file_name(found.name)}.html"))
    if as_json:
        print_json({"file": str(path)})
    else:
        typer.echo(str(path))
