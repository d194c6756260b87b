"""`tandem runs`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli import run_control, run_downloads, run_import, run_mirrors
from tandem.cli.invocation import AsJson, ProjectName, RunName, client_of
from tandem.cli.output import print_facts, print_json, print_table, spelled
from tandem.text_files import printable

if TYPE_CHECKING:
    from tandem.synchronous.run_handle import Run

app = typer.Typer(no_args_is_help=True, help="Start, follow and control runs.")
app.command("download")(run_downloads.download)
app.command("report")(run_downloads.report)
app.command("import")(run_import.import_configuration)
app.command("mirrors")(run_mirrors.mirrors)
app.command("mirror")(run_mirrors.mirror)
app.command("pause")(run_control.pause)
app.command("resume")(run_control.resume)
app.command("stop")(run_control.stop)
app.command("cancel")(run_control.cancel)
app.command("resize")(run_control.resize)
Watched = Annotated[bool, typer.Option("--watch", "-w", help="Follow the run until it ends; exit code 10 if it fails.")]


@app.command("create")
def create(
    ctx: typer.Context,
    file: Annotated[Path, typer.Option("--file", "-f", exists=True, dir_okay=False, help="The spec, YAML.")],
    name: Annotated[str, typer.Option(help="Default: the file's name.")] = "",
    project: ProjectName = "",
    notes: Annotated[str, typer.Option()] = "",
    tag: Annotated[list[str], typer.Option(help="May be repeated.")] = [],  # noqa: B006
    watch: Watched = False,
    as_json: AsJson = False,
) -> None:
    """Queue a run."""
    made = client_of(ctx).runs.create(file, name=name or file.stem, project=project, notes=notes, tags=tag)
    _show_new(made, watch, as_json)


@app.command("list")
def list_runs(
    ctx: typer.Context,
    project: ProjectName = "",
    state: Annotated[str, typer.Option(help="One or several, separated by commas.")] = "",
    search: Annotated[str, typer.Option(help="Words of the name, the notes or a tag.")] = "",
    tag: Annotated[str, typer.Option()] = "",
    mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    from itertools import islice

    found = client_of(ctx).runs.list(project=project, state=state, search=search, tag=tag, mine=mine)
    runs = list(islice(found, limit))
    if as_json:
        print_json(runs)
        return
    rows = [
        (
            each.name,
            each.state,
            f"{each.num_batches_done}/{each.num_batches}",
            each.headline.reward_after,
            each.project.name,
            each.created_at,
            each.id,
        )
        for each in runs
    ]
    print_table(("name", "state", "batches", "reward", "project", "created", "id"), rows, absent="No runs.")


@app.command("show")
def show(ctx: typer.Context, run: RunName, as_json: AsJson = False) -> None:
    """Show a run."""
    found = client_of(ctx).runs.get(run)
    if as_json:
        print_json(found)
        return
    print_facts(
        [
            ("name", found.name),
            ("id", found.id),
            ("project", found.project.name),
            ("state", found.state),
            ("waits for", found.waiting),
            ("warning", found.warning),
            ("phase", found.phase),
            ("batches", f"{found.num_batches_done} of {found.num_batches}"),
            ("held-out reward before", found.headline.reward_before),
            ("held-out reward", found.headline.reward_after),
            ("attempt", found.attempt),
            ("created", found.created_at),
            ("started", found.started_at),
            ("ended", found.ended_at),
            ("failure", found.failure and found.failure.reason),
            ("tags", ", ".join(found.tags)),
            ("notes", found.notes),
        ]
    )


@app.command("watch")
def watch_run(ctx: typer.Context, run: RunName, as_json: AsJson = False) -> None:
    """Follow a run until it ends; exit code 10 if it fails."""
    from tandem.cli.watch import watch

    found = watch(client_of(ctx).runs.get(run), quietly=as_json)
    if as_json:
        print_json(found)


@app.command("logs")
def logs(
    ctx: typer.Context,
    run: RunName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more until the run has ended.")] = False,
    level: Annotated[str, typer.Option(help="The least severity: debug, info, warning or error.")] = "",
    source: Annotated[str, typer.Option(help="A lane, `driver`, `web`, or a role.")] = "",
    search: Annotated[str, typer.Option(help="Text that an entry contains.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one document a line.")] = False,
) -> None:
    """Print log records and events, oldest first."""
    from datetime import datetime

    for entry in client_of(ctx).runs.get(run).logs(follow=follow, level=level, source=source, search=search):
        if as_json:
            typer.echo(entry.model_dump_json())
        else:
            at = datetime.fromtimestamp(entry.at)
            typer.echo(f"{at:%H:%M:%S} {entry.level:<7} {spelled(entry.source):<12} {printable(entry.text)}")


@app.command("fork")
def fork(
    ctx: typer.Context,
    run: RunName,
    checkpoint: Annotated[int | None, typer.Option(help="Its complete batches. Default: the newest.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", exists=True, dir_okay=False, help="Another spec, YAML.")
    ] = None,
    name: Annotated[str, typer.Option(help="Default: the run's, with the checkpoint's batches.")] = "",
    watch: Watched = False,
    as_json: AsJson = False,
) -> None:
    """Start a new run from a checkpoint of another."""
    made = client_of(ctx).runs.get(run).fork(checkpoint, name=name, spec=file)
    _show_new(made, watch, as_json)


@app.command("compare")
def compare(
    ctx: typer.Context,
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Two runs or more, by id or name.")],
    as_json: AsJson = False,
) -> None:
    """Show how runs ended up, and which fields of their specs differ."""
    from tandem.spec_differences import spec_differences

    client = client_of(ctx)
    found = [client.runs.get(run) for run in runs]
    differences = spec_differences([each.spec for each in found])
    if as_json:
        facts = [
            {"id": each.id, "name": each.name, "state": each.state, "headline": each.headline.model_dump(mode="json")}
            for each in found
        ]
        print_json({"runs": facts, "spec_differences": differences})
        return
    rows: list[tuple[object, ...]] = [
        ("state", *(each.state for each in found)),
        ("batches", *(f"{each.num_batches_done}/{each.num_batches}" for each in found)),
        ("held-out reward before", *(each.headline.reward_before for each in found)),
        ("held-out reward", *(each.headline.reward_after for each in found)),
        *((field, *values) for field, values in differences.items()),
    ]
    print_table(("", *(each.name for each in found)), rows, absent="")


def _show_new(run: "Run", is_watched: bool, as_json: bool) -> None:
    from tandem.cli.watch import watch

    if as_json:
        print_json(watch(run, quietly=True) if is_watched else run)
        return
    typer.echo(f"{run.name} is {run.state}: {run.id}")
    if is_watched:
        watch(run)
