"""`tandem pool`, `plan`, `queue` and `usage`."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, client_of
from tandem.cli.output import print_facts, print_json, print_table

if TYPE_CHECKING:
    from tandem import rest_models

app = typer.Typer(no_args_is_help=True, help="The nodes and lanes of the pool.")
NodeName = Annotated[str, typer.Argument(metavar="NODE", help="A node's name or address.")]
Reason = Annotated[str, typer.Option(help="Why: shown on the pool page and kept in the history.")]


@app.command("status")
def status(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the nodes with their lanes, and how many of those are held."""
    nodes = client_of(ctx).pool.nodes()
    if as_json:
        print_json(nodes)
        return
    rows = [(each.name, each.state, len(each.gpus), f"{each.num_held}/{each.num_lanes}", each.reason) for each in nodes]
    print_table(("node", "state", "GPUs", "lanes held", "why"), rows, absent="The pool has no nodes.")


@app.command("cordon")
def cordon(ctx: typer.Context, node: NodeName, reason: Reason, as_json: AsJson = False) -> None:
    """Give a node no further work; what runs there goes on."""
    _show(client_of(ctx).pool.cordon(node, reason=reason), as_json)


@app.command("drain")
def drain(
    ctx: typer.Context,
    node: NodeName,
    reason: Reason,
    until: Annotated[datetime | None, typer.Option(help="By when it has to be empty, in your time zone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Move the work of a node away, and give it none."""
    _show(client_of(ctx).pool.drain(node, reason=reason, until=until and until.astimezone()), as_json)


@app.command("return")
def return_node(ctx: typer.Context, node: NodeName, as_json: AsJson = False) -> None:
    """Return a node to work."""
    _show(client_of(ctx).pool.resume(node), as_json)


def _show(node: "rest_models.PoolNode", as_json: bool) -> None:
    if as_json:
        print_json(node)
    else:
        typer.echo(f"{node.name} is {node.state}.")


def plan(
    ctx: typer.Context,
    file: Annotated[Path, typer.Option("--file", "-f", exists=True, dir_okay=False, help="The spec, YAML.")],
    as_json: AsJson = False,
) -> None:
    """Say how a spec would run on the pool's lanes, and how fast."""
    found = client_of(ctx).plan(file)
    if as_json:
        print_json(found)
        return
    costs = {"measured": "measured", "own": "measured in this workload's runs", "profile": "a profile's, not measured"}
    print_facts(
        [
            ("mode", found.mode),
            ("devices", ", ".join(found.devices)),
            ("costs", costs.get(found.costs, found.costs)),
            ("fits the pool", "yes" if found.fits_pool else "no: it has too few lanes"),
            ("price per hour", found.price_per_hour),
        ]
    )
    typer.echo()
    ranked = sorted(found.by_mode.items(), key=lambda item: -item[1].samples_per_second)
    rows = [
        (name, each.num_rollout, each.num_trainer, each.samples_per_second, each.batch_seconds) for name, each in ranked
    ]
    print_table(("mode", "rollout", "trainer", "samples/s", "s/batch"), rows, absent="No mode is possible.")


def queue(
    ctx: typer.Context,
    pool: Annotated[str, typer.Option(help="Only the queue of this pool.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the runs that wait, in the order in which they are served."""
    waiting = client_of(ctx).queue(pool=pool)
    if as_json:
        print_json(waiting)
        return
    rows = [
        (each.pool, each.position, each.run_name, each.priority, each.starts and each.starts.likely, each.why)
        for each in waiting
    ]
    print_table(("pool", "place", "run", "priority", "starts about", "why"), rows, absent="Nothing waits.")


def usage(
    ctx: typer.Context,
    by: Annotated[
        str, typer.Option(help="project, user, accelerator, base_model, pool, node, run or day.")
    ] = "project",
    since: Annotated[datetime | None, typer.Option(help="Begin. Default: 30 days before the end.")] = None,
    until: Annotated[datetime | None, typer.Option(help="End, not included. Default: now.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add up lane hours, GPU hours and cost."""
    rows = client_of(ctx).usage(by, since=since and since.astimezone(), until=until and until.astimezone())
    if as_json:
        print_json(rows)
        return
    cells = [(each.name, each.num_runs, each.lane_hours, each.gpu_hours, each.cost) for each in rows]
    print_table((by, "runs", "lane hours", "GPU hours", "cost"), cells, absent="Nothing was used.")
