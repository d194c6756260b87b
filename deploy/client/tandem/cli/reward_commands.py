"""`tandem rewards`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tandem.cli.invocation import AsJson, client_of
from tandem.cli.output import print_facts, print_json, print_table

if TYPE_CHECKING:
    from tandem import rest_models


def rewards(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="One of them, with all that is known of it. Default: list them.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the scorers that a spec can name, or show one."""
    client = client_of(ctx)
    if name:
        found = client.reward(name)
        if as_json:
            print_json(found)
        else:
            print_facts(_facts(found))
        return
    all_of_them = client.rewards()
    if as_json:
        print_json(all_of_them)
        return
    rows = [(each.name, _media(each), each.usual, each.needs, each.description) for each in all_of_them]
    print_table(("name", "scores", "range", "needs", "what it measures"), rows, absent="No rewards.")


def _facts(reward: "rest_models.Reward") -> list[tuple[str, object]]:
    settings = reward.settings or {}
    return [
        ("name", reward.name),
        ("measures", reward.description),
        ("scores", _media(reward)),
        ("looks at", reward.looks_at),
        ("reads", reward.prompt),
        ("range", reward.usual),
        ("needs", reward.needs),
        ("gamed by", reward.gamed),
        ("source", reward.source),
        ("presets", ", ".join(reward.presets)),
        *((f"setting {field}", _default(schema)) for field, schema in settings.get("properties", {}).items()),
    ]


def _default(schema: dict[str, object]) -> str:
    return f"default {schema['default']}" if schema.get("default") is not None else "no default"


def _media(reward: "rest_models.Reward") -> str:
    media = {"images": reward.scores_images, "videos": reward.scores_videos}
    return ", ".join(medium for medium, is_scored in media.items() if is_scored)
