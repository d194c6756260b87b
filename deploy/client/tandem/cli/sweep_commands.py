"""`tandem sweep`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, ProjectName, client_of
from tandem.cli.output import EMPTY, print_facts, print_json, print_table, spelled

if TYPE_CHECKING:
    from tandem.rest_models import SweptPoint
    from tandem.synchronous.sweep_calls import Sweep

app = typer.Typer(no_args_is_help=True, help="Many runs that differ in some settings, compared at equal samples.")
SweepName = Annotated[str, typer.Argument(metavar="SWEEP", help="A sweep's id, or the name of the newest so called.")]


@app.command("create")
def create(
    ctx: typer.Context,
    file: Annotated[Path, typer.Option("--file", "-f", exists=True, dir_okay=False, help="The sweep, YAML.")],
    project: ProjectName = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the points, and make nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a sweep, once every point is found valid."""
    sweeps = client_of(ctx).sweeps
    if dry_run:
        found = sweeps.preview(file, project=project)
        if as_json:
            print_json(found)
            return
        fields = list(found.points[0])
        rows = [(number, *(point[field] for field in fields)) for number, point in enumerate(found.points, 1)]
        print_table(("point", *fields), rows, absent="No points.")
        typer.echo(f"{found.num_runs} runs on {found.num_samples:,} samples, if none is pruned.")
        return
    made = sweeps.create(file, project=project)
    if as_json:
        print_json(made)
    else:
        typer.echo(f"{made.name}: {made.num_points} points, {made.num_runs} runs: {made.id}")


@app.command("list")
def list_sweeps(
    ctx: typer.Context,
    project: ProjectName = "",
    state: Annotated[str, typer.Option(help="running, stopping, stopped or completed.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List sweeps, newest first."""
    from itertools import islice

    sweeps = list(islice(client_of(ctx).sweeps.list(project=project, state=state), limit))
    if as_json:
        print_json(sweeps)
        return
    rows = [
        (
            each.name,
            each.state,
            each.num_points,
            f"{each.num_runs_ended}/{each.num_runs}",
            each.num_pruned,
            EMPTY if each.best is None else f"{spelled(each.best.value)} at {each.best.number}",
            _of_budget(each.gpu_hours, each.budget_gpu_hours),
            each.project.name,
            each.created_at,
            each.id,
        )
        for each in sweeps
    ]
    titles = ("name", "state", "points", "runs", "pruned", "best", "GPU-hours", "project", "created", "id")
    print_table(titles, rows, absent="No sweeps.")


@app.command("show")
def show(ctx: typer.Context, sweep: SweepName, as_json: AsJson = False) -> None:
    """Show a sweep with its points, the best first."""
    found = client_of(ctx).sweeps.get(sweep)
    if as_json:
        print_json(found)
        return
    best = found.best
    print_facts(
        [
            ("name", found.name),
            ("id", found.id),
            ("project", found.project.name),
            ("state", found.state),
            ("starts no more runs", found.reason),
            ("points", f"{found.num_points}, {found.num_pruned} pruned"),
            ("runs", f"{found.num_runs_ended} of {found.num_runs} ended, {found.num_runs_live} at work"),
            ("GPU-hours", _of_budget(found.gpu_hours, found.budget_gpu_hours)),
            ("objective", found.plan["objective"]["metric"]),
            ("best", best and f"{spelled(best.value)}, point {best.number}"),
            ("invalid draws", f"{found.num_invalid_draws}: {found.invalid_draw}" if found.num_invalid_draws else ""),
        ]
    )
    fields = list(found.plan["space"])
    titles = ("point", *fields, "state", "value", "over seeds", "samples", "GPU-hours", "pruned because")
    rows = [_row(point, fields) for point in _best_first(found)]
    typer.echo()
    print_table(titles, rows, absent="No points.")


@app.command("stop")
def stop(ctx: typer.Context, sweep: SweepName, as_json: AsJson = False) -> None:
    """Stop a sweep's runs, and start no more."""
    stopped = client_of(ctx).sweeps.get(sweep).stop()
    if as_json:
        print_json(stopped)
    else:
        typer.echo(f"{stopped.name} is {stopped.state}: {stopped.num_runs_live} runs at work end.")


@app.command("delete")
def delete(ctx: typer.Context, sweep: SweepName) -> None:
    """Delete an ended sweep. Its runs stay."""
    found = client_of(ctx).sweeps.get(sweep)
    found.delete()
    typer.echo(f"Deleted {found.name}; its runs stay.")


def _best_first(sweep: "Sweep") -> "list[SweptPoint]":
    sign = -1 if sweep.plan["objective"]["maximise"] else 1
    return sorted(sweep.points, key=lambda point: (point.value is None, sign * (point.value or 0), point.number))


def _row(point: "SweptPoint", fields: list[str]) -> tuple[object, ...]:
    pruned = next((rung.reason for rung in point.rungs if rung.is_pruned), "")
    # A spread of one seed says nothing.
    is_spread = point.least is not None and len(point.runs) > 1
    spread = f"{spelled(point.least)} to {spelled(point.greatest)}" if is_spread else EMPTY
    values = [spelled(point.values[field]) for field in fields]
    return (point.number, *values, point.state, point.value, spread, point.num_samples, point.gpu_hours, pruned)


def _of_budget(gpu_hours: float, budget: float | None) -> str:
    return spelled(gpu_hours) if budget is None else f"{spelled(gpu_hours)} of {spelled(budget)}"
